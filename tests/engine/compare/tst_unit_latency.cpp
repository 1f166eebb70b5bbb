// SPDX-License-Identifier: Apache-2.0
#include "engine/compare/unit_latency.h"
#include "engine/pipeline/stage_chain.h"

#include <QtTest>

using namespace qs;

namespace {

const char* const kModel = QS_SOURCE_DIR "/resources/samples/digits.pt2";
const char* const kData = QS_SOURCE_DIR "/resources/samples/calib.npz";

} // namespace

/// The times of nodes by unit, with a layer kept float between integers.
class TestUnitLatency : public QObject
{
    Q_OBJECT

private:
    ConvertedPtr m_converted;
    std::vector<NodeTime> m_float, m_lowered; ///< each node that runs takes a second

    const Graph& model() const { return *m_converted->prepared->model; }

    static std::vector<NodeTime> secondEach(std::vector<NodeTime> times)
    {
        for (NodeTime& time : times)
            time.seconds = 1;
        return times;
    }

    /// The unit that ends at the last operator of a module, or at the node of that name.
    UnitLatency unitAt(const std::vector<UnitLatency>& units, const std::string& place) const
    {
        NodeId end;
        for (const NodePtr& node : model().nodes())
            if (node->name == place || node->scope.path == place)
                end = node->id;
        for (const UnitLatency& unit : units)
            if (unit.node == end)
                return unit;
        qFatal("no unit ends at %s", place.c_str());
    }

private Q_SLOTS:
    void initTestCase()
    {
        const auto must = [](auto result) {
            if (!result)
                qFatal("%s", result.error().line().c_str());
            return std::move(*result);
        };
        StageChain chain;
        Recipe recipe = defaultRecipe();
        recipe.calibration.batches = 1;
        Rule kept;
        kept.kind = RuleKind::ModuleName;
        kept.key = "block1.conv2";
        recipe.mapping.rules.push_back(kept);
        const RunSettings settings {kData, {}, "cpu"};
        const GraphPtr model = must(chain.open(kModel, {}));
        const PlanPtr plan = must(chain.plan(model, recipe));
        const auto calibration = must(chain.calibrate({model, plan, recipe, settings}, {}));
        m_converted = must(chain.convert({calibration, recipe, settings}, {}));
        const auto comparison
            = must(chain.compare({calibration, m_converted, recipe, settings}, {}));
        m_float = secondEach(comparison->floatTimes);
        m_lowered = secondEach(comparison->loweredTimes);
    }

    void everyTimeCountsOnce()
    {
        const auto units = unitLatencies(*m_converted, m_float, m_lowered);
        const UnitLatency whole = wholeLatency(units);
        QCOMPARE(whole.floatSeconds.value(), double(m_float.size()));
        QCOMPARE(whole.convertedSeconds().value(), double(m_lowered.size()));
        QVERIFY(!whole.node);
        for (std::size_t i = 1; i < units.size(); ++i)
            QVERIFY(units[i - 1].node < units[i].node);
    }

    void aFusionIsOneUnit()
    {
        const auto units = unitLatencies(*m_converted, m_float, m_lowered);
        const UnitLatency stem = unitAt(units, "stem.relu"); // conv, batch norm, relu
        QCOMPARE(stem.floatSeconds.value(), 3.0);
        QCOMPARE(stem.int8Seconds.value(), 1.0); // one kernel
        QVERIFY(!stem.conversionSeconds);
        QCOMPARE(stem.convertedSeconds().value(), 1.0);
    }

    void conversionsCountAtWhatTheyConvert()
    {
        const auto units = unitLatencies(*m_converted, m_float, m_lowered);
        const UnitLatency input = unitAt(units, "image"); // quantized, computed by no operator
        QVERIFY(!input.floatSeconds && !input.int8Seconds);
        QCOMPARE(input.conversionSeconds.value(), 1.0);
        const UnitLatency before = unitAt(units, "block1.conv1.relu"); // its float reader's
        QCOMPARE(before.int8Seconds.value(), 1.0);
        QCOMPARE(before.conversionSeconds.value(), 1.0);
        const UnitLatency island = unitAt(units, "block1.bn2"); // float, then quantized
        QCOMPARE(island.floatSeconds.value(), 2.0);
        QCOMPARE(island.int8Seconds.value(), 1.0); // preparing folded the batch norm
        QCOMPARE(island.conversionSeconds.value(), 1.0);
    }

    void whatWasNotTimedIsEmpty()
    {
        QVERIFY(unitLatencies(*m_converted, {}, {}).empty());
        const auto lowered = unitLatencies(*m_converted, {}, m_lowered); // as on a GPU
        QVERIFY(!wholeLatency(lowered).floatSeconds && wholeLatency(lowered).int8Seconds);
        const std::vector<NodeTime> unknown {{NodeId(1'000'000), 1}}; // of another conversion
        QVERIFY(unitLatencies(*m_converted, {}, unknown).empty());
        const auto none = unitLatencies(*m_converted, unknown, {});
        QCOMPARE(none.size(), std::size_t(1));
        QVERIFY(!none[0].node);
        QVERIFY(!wholeLatency({}).convertedSeconds());
    }
};

QTEST_GUILESS_MAIN(TestUnitLatency)
#include "tst_unit_latency.moc"
