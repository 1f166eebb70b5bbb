// SPDX-License-Identifier: Apache-2.0
#include "engine/import/importer.h"
#include "engine/pipeline/stage_chain.h"

#include <QtTest>

#include <cmath>
#include <random>

using namespace qs;

namespace {

const char* const kModel = QS_SOURCE_DIR "/resources/samples/digits.pt2";
const char* const kData = QS_SOURCE_DIR "/resources/samples/calib.npz";
const char* const kOtherData = QS_SOURCE_DIR "/resources/samples/test.npz";

template<class T>
T must(Result<T> result)
{
    if (!result)
        qFatal("%s", result.error().line().c_str());
    return std::move(*result);
}

bool near(double a, double b)
{
    return std::abs(a - b) <= 1e-9 * std::max({1.0, std::abs(a), std::abs(b)});
}

bool near(const std::optional<ErrorMetrics>& a, const std::optional<ErrorMetrics>& b)
{
    if (!a || !b)
        return a.has_value() == b.has_value();
    return a->sqnrDb.has_value() == b->sqnrDb.has_value()
        && near(a->sqnrDb.value_or(0), b->sqnrDb.value_or(0)) && near(a->cosine, b->cosine)
        && near(a->mse, b->mse) && near(a->maxAbs, b->maxAbs);
}

bool same(const Preview& a, const Preview& b)
{
    const auto equal
        = [](const std::optional<ErrorMetrics>& x, const std::optional<ErrorMetrics>& y) {
              return x.has_value() == y.has_value()
                  && (!x
                      || (x->sqnrDb == y->sqnrDb && x->cosine == y->cosine && x->mse == y->mse
                          && x->maxAbs == y->maxAbs));
          };
    return a.samples == b.samples && a.estimated == b.estimated
        && std::equal(a.nodes.begin(), a.nodes.end(), b.nodes.begin(), b.nodes.end(),
                      [&](const NodeError& x, const NodeError& y) {
                          return x.node == y.node && equal(x.cumulative, y.cumulative);
                      })
        && std::equal(a.outputs.begin(), a.outputs.end(), b.outputs.begin(), b.outputs.end(),
                      [&](const OutputError& x, const OutputError& y) {
                          return x.name == y.name && equal(x.cumulative, y.cumulative);
                      });
}

} // namespace

/// A preview is the comparison of its samples, whatever was kept before.
class TestPreview : public QObject
{
    Q_OBJECT

private:
    GraphPtr m_model;
    RunSettings m_settings {kData, {}, "cpu"};

    static Recipe recipe(int batches)
    {
        Recipe out = defaultRecipe();
        out.calibration.batches = batches;
        return out;
    }

    CalibrationPtr calibrated(StageChain& chain, const Recipe& recipe) const
    {
        const PlanPtr plan = must(chain.plan(m_model, recipe));
        return must(chain.calibrate({m_model, plan, recipe, m_settings}, {}));
    }

    PreviewPtr preview(StageChain& chain, const Recipe& recipe) const
    {
        return must(chain.preview({m_model, recipe, m_settings}, {}));
    }

    ComparisonPtr compared(StageChain& chain, const Recipe& recipe) const
    {
        const CalibrationPtr seen = calibrated(chain, recipe);
        const ConvertedPtr converted = must(chain.convert({seen, recipe, m_settings}, {}));
        return must(chain.compare({seen, converted, recipe, m_settings}, {}));
    }

    /// A few decisions on modules, some float, some with seven bits of extremes.
    Recipe decided(std::mt19937& random, int batches) const
    {
        std::vector<std::string> modules;
        for (const NodePtr& node : m_model->nodes())
            if (node->isOperator() && !node->scope.path.empty())
                modules.push_back(node->scope.path);
        Recipe out = recipe(batches);
        QConfig config = *presetQConfig("x86");
        config.activation.kind = ObserverKind::MinMax;
        config.activation.quantMin = 0;
        config.activation.quantMax = 127;
        out.qconfigs["other"] = config;
        for (std::size_t i = 0; i < 1 + random() % 3; ++i) {
            Rule rule;
            rule.kind = RuleKind::ModuleName;
            rule.key = modules[random() % modules.size()];
            rule.qconfig = random() % 2 ? NamedQConfig {} : NamedQConfig {"other", config};
            out.mapping.rules.push_back(std::move(rule));
        }
        return out;
    }

private Q_SLOTS:
    void initTestCase() { m_model = must(importModel(kModel)); }

    /// Where the data are one batch the comparison is of the same samples.
    void figuresAreTheComparisons()
    {
        StageChain chain;
        calibrated(chain, recipe(1));
        std::mt19937 random(3);
        for (int step = 0; step < 8; ++step) {
            const Recipe decisions = step == 0 ? recipe(1) : decided(random, 1);
            calibrated(chain, decisions);
            const PreviewPtr made = preview(chain, decisions);
            QVERIFY(made->estimated.empty());
            StageChain scratch;
            const ComparisonPtr whole = compared(scratch, decisions);
            QCOMPARE(made->samples, whole->samples);
            QCOMPARE(made->nodes.size(), whole->nodes.size());
            for (std::size_t i = 0; i < made->nodes.size(); ++i) {
                QCOMPARE(made->nodes[i].node, whole->nodes[i].node);
                QVERIFY2(near(made->nodes[i].cumulative, whole->nodes[i].cumulative),
                         m_model->get(made->nodes[i].node).name.c_str());
            }
            QCOMPARE(made->outputs.size(), whole->outputs.size());
            QCOMPARE(made->outputs[0].name, whole->outputs[0].name);
            // The output's own value is the last unit's, as it was run.
            QVERIFY(near(made->outputs[0].cumulative, made->nodes.back().cumulative));
        }
    }

    void keptWorkChangesNoBit_data()
    {
        QTest::addColumn<qulonglong>("bytes");
        QTest::newRow("roomy") << (1ull << 28);
        QTest::newRow("too little for all") << 300'000ull;
        QTest::newRow("none") << 0ull;
    }

    void keptWorkChangesNoBit()
    {
        QFETCH(qulonglong, bytes);
        StageChain::Options options;
        options.previewBytes = bytes;
        StageChain chain(options);
        calibrated(chain, recipe(4));
        std::mt19937 random(11);
        std::vector<Recipe> made;
        for (int step = 0; step < 10; ++step) {
            // Now and then back to an earlier one, as undo does.
            made.push_back(step % 4 == 3 ? made[random() % made.size()] : decided(random, 4));
            const PreviewPtr kept = preview(chain, made.back());
            StageChain scratch(options);
            calibrated(scratch, recipe(4));
            QVERIFY(same(*kept, *preview(scratch, made.back())));
        }
    }

    void otherDataAreOtherFigures()
    {
        StageChain chain;
        calibrated(chain, recipe(2));
        const PreviewPtr first = preview(chain, recipe(2));
        const RunSettings before = m_settings;
        m_settings.comparisonData = kOtherData;
        const PreviewPtr other = preview(chain, recipe(2));
        m_settings = before;
        QVERIFY(!same(*first, *other));
        QVERIFY(same(*first, *preview(chain, recipe(2))));
    }

    /// A value that no observer has seen takes its range from the samples, and the result lists it.
    void unseenValuesAreEstimated()
    {
        Recipe first = recipe(4);
        Rule rule;
        rule.kind = RuleKind::ModuleName;
        rule.key = "block2";
        first.mapping.rules.push_back(rule);
        StageChain chain;
        const CalibrationPtr seen = calibrated(chain, first);
        const PreviewPtr made = preview(chain, recipe(4));
        QVERIFY(!made->estimated.empty());
        for (const std::string& name : made->estimated)
            QVERIFY2(m_model->tryFind(name), name.c_str());
        // Nothing of it is taken for a calibration.
        const PlanPtr plan = must(chain.plan(m_model, recipe(4)));
        QVERIFY(!chain.recall({m_model, plan, recipe(4), m_settings}, {}).calibration);
        StageChain scratch;
        calibrated(scratch, recipe(4));
        calibrated(chain, recipe(4));
        QVERIFY(same(*preview(chain, recipe(4)), *preview(scratch, recipe(4))));
    }

    void withoutACalibrationThereIsNone()
    {
        StageChain chain;
        const auto made = chain.preview({m_model, recipe(4), m_settings}, {});
        QVERIFY(!made);
        QCOMPARE(QString::fromStdString(made.error().message),
                 QStringLiteral("nothing was calibrated on these data: calibrate first"));
    }

    void aCancelStopsIt()
    {
        StageChain chain;
        calibrated(chain, recipe(1));
        std::stop_source stop;
        stop.request_stop();
        const auto made
            = chain.preview({m_model, recipe(1), m_settings}, JobContext(stop.get_token()));
        QVERIFY(!made && made.error().code == ErrorCode::Cancelled);
    }
};

QTEST_GUILESS_MAIN(TestPreview)
#include "tst_preview.moc"
