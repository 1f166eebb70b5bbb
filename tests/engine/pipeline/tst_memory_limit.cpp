// SPDX-License-Identifier: Apache-2.0
#include "engine/base/log.h"
#include "engine/base/memory/memory_budget.h"
#include "engine/import/importer.h"
#include "engine/pipeline/memory_prediction.h"
#include "engine/pipeline/stage_chain.h"

#include <QtTest>

using namespace qs;

namespace {

const char* const kModel = QS_SOURCE_DIR "/resources/samples/digits.pt2";
const char* const kData = QS_SOURCE_DIR "/resources/samples/calib.npz";
constexpr std::int64_t kMega = std::int64_t(1) << 20;

template<class T>
T must(Result<T> result)
{
    if (!result)
        qFatal("%s", result.error().line().c_str());
    return std::move(*result);
}

} // namespace

/// What a run makes smaller to keep to the user's limit of memory, and what it refuses.
class TestMemoryLimit : public QObject
{
    Q_OBJECT

private:
    GraphPtr m_model;
    PlanPtr m_plan;
    std::vector<std::string> m_notes;

    std::int64_t peak(std::int64_t samples) const
    {
        return predictMemory(*m_model, *m_plan, samples).peak().bytes();
    }
    CalibrationSettings cut(int batchSize, int batches) const
    {
        CalibrationSettings settings;
        settings.batchSize = batchSize;
        settings.batches = batches;
        return settings;
    }
    ComparisonPtr run(StageChain& chain, const Recipe& recipe) const
    {
        const RunSettings settings {kData, {}, "cpu"};
        const PlanPtr plan = must(chain.plan(m_model, recipe));
        const auto seen = must(chain.calibrate({m_model, plan, recipe, settings}, {}));
        const auto converted = must(chain.convert({seen, recipe, settings}, {}));
        return must(chain.compare({seen, converted, recipe, settings}, {}));
    }

private Q_SLOTS:
    void initTestCase()
    {
        m_model = must(importModel(kModel));
        m_plan = must(StageChain().plan(m_model, defaultRecipe()));
        setLogSink([this](LogLevel, const std::string& text) {
            if (text.find("--memory") != std::string::npos)
                m_notes.push_back(text);
        });
    }
    void init() { m_notes.clear(); }
    void cleanup() { setMemoryLimit(0); }
    void cleanupTestCase() { setLogSink({}); }

    void batchesBecomeSmallerAndMore()
    {
        QVERIFY(peak(64) > peak(32));
        setMemoryLimit(peak(32));
        CalibrationSettings smaller = withinMemoryLimit(*m_model, *m_plan, cut(96, 3));
        QCOMPARE(smaller.batchSize, 32);
        QCOMPARE(smaller.batches, 9);
        smaller = withinMemoryLimit(*m_model, *m_plan, cut(96, 0)); // all of them
        QCOMPARE(smaller.batchSize, 32);
        QCOMPARE(smaller.batches, 0);
        smaller = withinMemoryLimit(*m_model, *m_plan, cut(16, 2)); // they fit
        QCOMPARE(smaller.batchSize, 16);
        QCOMPARE(smaller.batches, 2);
        CalibrationSettings sequence = cut(96, 3);
        sequence.isSequence = true;
        QCOMPARE(withinMemoryLimit(*m_model, *m_plan, sequence).batchSize, 96);
        setMemoryLimit(peak(1) - kMega); // nothing helps
        QCOMPARE(withinMemoryLimit(*m_model, *m_plan, cut(96, 3)).batchSize, 96);
    }

    void whatDoesNotFitIsRefusedWithTheFigures()
    {
        setMemoryLimit(peak(32));
        QVERIFY(checkMemoryLimit(*m_model, *m_plan, 32));
        const auto refused = checkMemoryLimit(*m_model, *m_plan, 96);
        QVERIFY(!refused);
        QVERIFY(refused.error().line().find("set \"batch_size\" to 32 in") != std::string::npos);
        setMemoryLimit(peak(1) - kMega);
        const auto hopeless = checkMemoryLimit(*m_model, *m_plan, 96);
        QVERIFY(!hopeless);
        QVERIFY(hopeless.error().line().find("batch_size") == std::string::npos);
    }

    /// A chain that keeps values keeps as many as the run leaves room for, says so once, and finds
    /// the same.
    void fewerValuesAreKept()
    {
        Recipe recipe = defaultRecipe();
        recipe.calibration.batches = 4;
        StageChain::Options options;
        options.valueBytes = std::size_t(512) << 20;
        StageChain free(options), held(options);
        const ComparisonPtr wanted = run(free, recipe);
        QVERIFY(m_notes.empty());
        constexpr std::int64_t kRoom = 4 * kMega;
        setMemoryLimit(peak(recipe.calibration.batchSize) + kRoom);
        const ComparisonPtr found = run(held, recipe);
        QCOMPARE(m_notes.size(), std::size_t(1));
        QVERIFY2(m_notes.front().find("4 MB of results and values are kept") != std::string::npos,
                 m_notes.front().c_str());
        QVERIFY(held.keptBytes() < free.keptBytes());
        QCOMPARE(found->nodes.size(), wanted->nodes.size());
        for (std::size_t i = 0; i < wanted->nodes.size(); ++i)
            QCOMPARE(found->nodes[i].cumulative->mse, wanted->nodes[i].cumulative->mse);
        Rule rule;
        rule.kind = RuleKind::ModuleName;
        rule.key = "head";
        recipe.mapping.rules.push_back(rule);
        run(held, recipe);
        QVERIFY(m_notes.size() <= 2); // another plan, other figures: once for each
    }

    void aSmallerMemoLetsTheOldestGo()
    {
        Memo memo(1000);
        const auto key = [](std::int64_t number) { return KeyBuilder("k").add(number).key(); };
        const auto held = std::make_shared<const int>(0);
        memo.keep<int>(key(0), held, 300);
        for (int i = 1; i < 4; ++i)
            memo.keep<int>(key(i), std::make_shared<const int>(i), 200);
        memo.setBudget(500);
        QVERIFY(memo.find<int>(key(0))); // somebody holds it
        QVERIFY(!memo.find<int>(key(1)) && !memo.find<int>(key(2)));
        QVERIFY(memo.find<int>(key(3)));
        memo.setBudget(0);
        QVERIFY(memo.find<int>(key(0)) && !memo.find<int>(key(3)));
        QCOMPARE(memo.bytes(), std::size_t(300));
    }
};

QTEST_GUILESS_MAIN(TestMemoryLimit)
#include "tst_memory_limit.moc"
