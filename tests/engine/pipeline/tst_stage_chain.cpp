// SPDX-License-Identifier: Apache-2.0
#include "engine/import/importer.h"
#include "engine/pipeline/keys/decision_keys.h"
#include "engine/pipeline/stage_chain.h"

#include <QRegularExpression>
#include <QtTest>

#include <random>

using namespace qs;

namespace {

const char* const kModel = QS_SOURCE_DIR "/resources/samples/digits.pt2";
const char* const kData = QS_SOURCE_DIR "/resources/samples/calib.npz";
const char* const kOtherData = QS_SOURCE_DIR "/resources/samples/test.npz";

/// Everything that the stages give for some decisions.
struct Work
{
    PlanPtr plan;
    CalibrationPtr calibration;
    ConvertedPtr converted;
    ComparisonPtr comparison;
    int batches = 0; ///< that calibration reported
    std::string goneOn; ///< where the comparison said that it goes on; "" = it was whole
    std::string checked; ///< how many kernels the conversion checked: "3 kernels of 8"
};

/// A chain that keeps values, as the window's does.
StageChain::Options keeping(std::size_t bytes = std::size_t(256) << 20)
{
    StageChain::Options options;
    options.valueBytes = bytes;
    return options;
}

template<class T>
T must(Result<T> result)
{
    if (!result)
        qFatal("%s", result.error().line().c_str());
    return std::move(*result);
}

Rule rule(RuleKind kind, const std::string& key, const NamedQConfig& qconfig)
{
    Rule out;
    out.kind = kind;
    out.key = key;
    out.qconfig = qconfig;
    return out;
}

} // namespace

/// Results by key: what is kept is what a run from scratch gives, to the bit, and is found again
/// after any change that leaves it as it was.
class TestStageChain : public QObject
{
    Q_OBJECT

private:
    GraphPtr m_model;
    RunSettings m_settings {kData, {}, "cpu"};

    Work work(StageChain& chain, const Recipe& recipe) const
    {
        Work out;
        const JobContext job({}, [&out](const Progress& progress) {
            out.batches += progress.stage == "calibrate" && progress.what.starts_with("batch ");
            if (progress.stage == "compare" && progress.what.ends_with(" to measure"))
                out.goneOn = progress.what;
            if (progress.stage == "convert" && progress.what.starts_with("checking "))
                out.checked += progress.what.substr(9) + ";";
        });
        out.plan = must(chain.plan(m_model, recipe));
        out.calibration = must(chain.calibrate({m_model, out.plan, recipe, m_settings}, job));
        out.converted = must(chain.convert({out.calibration, recipe, m_settings}, job));
        out.comparison
            = must(chain.compare({out.calibration, out.converted, recipe, m_settings}, job));
        return out;
    }

    static Recipe recipe()
    {
        Recipe out = defaultRecipe();
        out.calibration.batches = 4;
        return out;
    }

    static Recipe with(Rule added)
    {
        Recipe out = recipe();
        out.mapping.rules.push_back(std::move(added));
        return out;
    }

    void compareWorks(const Work& kept, const Work& fresh)
    {
        QVERIFY(kept.calibration->qparams == fresh.calibration->qparams);
        const auto& mine = kept.calibration->observations->observers;
        const auto& theirs = fresh.calibration->observations->observers;
        QCOMPARE(mine.size(), theirs.size());
        for (std::size_t i = 0; i < mine.size(); ++i) {
            QCOMPARE(mine[i].id, theirs[i].id);
            QVERIFY(mine[i].spec == theirs[i].spec);
            QCOMPARE(mine[i].count, theirs[i].count);
            QCOMPARE(mine[i].min, theirs[i].min);
            QCOMPARE(mine[i].max, theirs[i].max);
            QVERIFY(mine[i].exact.counts == theirs[i].exact.counts);
        }
        QVERIFY(kept.converted->checks == fresh.converted->checks);
        const auto& a = kept.comparison->nodes;
        const auto& b = fresh.comparison->nodes;
        QCOMPARE(a.size(), b.size());
        for (std::size_t i = 0; i < a.size(); ++i)
            QVERIFY(a[i].kl && a[i] == b[i]);
        const auto &ours = kept.comparison->outputs, &scratch = fresh.comparison->outputs;
        QCOMPARE(ours.size(), scratch.size());
        for (std::size_t i = 0; i < ours.size(); ++i)
            QVERIFY(ours[i].cumulative == scratch[i].cumulative
                    && ours[i].lowered == scratch[i].lowered);
    }

private Q_SLOTS:
    void initTestCase() { m_model = must(importModel(kModel)); }

    void theSameDecisionsGiveTheSameValues()
    {
        StageChain chain;
        const Work first = work(chain, recipe());
        QCOMPARE(first.batches, 4);
        const Work other = work(chain, with(rule(RuleKind::ModuleName, "block2.conv2", {})));
        const Work again = work(chain, recipe());
        QCOMPARE(again.batches, 0);
        QCOMPARE(again.calibration, first.calibration);
        QCOMPARE(again.converted, first.converted);
        QCOMPARE(again.comparison, first.comparison);
        QVERIFY(other.comparison != first.comparison);
    }

    void localTermsOfAllDataLeaveTheRest()
    {
        StageChain chain;
        const Work sampled = work(chain, recipe());
        m_settings.allLocalTerms = true;
        const Work whole = work(chain, recipe());
        m_settings.allLocalTerms = false;
        QVERIFY(samplesLocalTerms(*sampled.comparison) && !samplesLocalTerms(*whole.comparison));
        for (std::size_t i = 0; i < whole.comparison->nodes.size(); ++i)
            QVERIFY(whole.comparison->nodes[i].cumulative
                    == sampled.comparison->nodes[i].cumulative);
        QCOMPARE(work(chain, recipe()).comparison, sampled.comparison);
    }

    void changesThatNeedNoData_data()
    {
        QTest::addColumn<QString>("what");
        for (const char* what : {"a module kept float", "minmax", "moving average", "seven bits",
                                 "another range method", "a lowering row", "all kinds again"})
            QTest::newRow(what) << QString::fromLatin1(what);
    }

    /// After a calibration with histograms these follow from what was kept, exactly.
    void changesThatNeedNoData()
    {
        QFETCH(QString, what);
        QConfig config = *presetQConfig("x86");
        Recipe changed = recipe();
        const auto observe = [&](auto change) {
            change(config.activation);
            changed.qconfigs["other"] = config;
            changed.mapping.rules.push_back(
                rule(RuleKind::ModuleName, "block1", {"other", config}));
        };
        if (what == QLatin1String("a module kept float"))
            changed = with(rule(RuleKind::ModuleName, "block2.conv2", {}));
        else if (what == QLatin1String("minmax"))
            observe([](ObserverSpec& spec) { spec.kind = ObserverKind::MinMax; });
        else if (what == QLatin1String("moving average"))
            observe([](ObserverSpec& spec) { spec.kind = ObserverKind::MovingAverageMinMax; });
        else if (what == QLatin1String("seven bits"))
            observe([](ObserverSpec& spec) {
                spec.quantMin = 0;
                spec.quantMax = 127;
            });
        else if (what == QLatin1String("another range method"))
            observe([](ObserverSpec& spec) { spec.range = RangeMethod::Percentile; });
        else if (what == QLatin1String("a lowering row"))
            changed.loweringRemove.push_back({{"torch.nn.Linear"}, {}});
        StageChain chain(keeping());
        work(chain, recipe());
        const Work kept = work(chain, changed);
        QCOMPARE(kept.batches, 0);
        StageChain scratch;
        compareWorks(kept, work(scratch, changed));
    }

    /// Only what follows from the change is run and measured again.
    void comparisonGoesOnFromTheChange()
    {
        StageChain chain(keeping()), scratch;
        QCOMPARE(work(chain, recipe()).goneOn, std::string());
        const Recipe late = with(rule(RuleKind::ModuleName, "block2.conv2", {}));
        const Work kept = work(chain, late);
        const std::size_t all = kept.comparison->nodes.size();
        const QRegularExpression told(
            QStringLiteral("^going on at '(.*)', ([0-9]+) of ([0-9]+) values to measure$"));
        const auto match = told.match(QString::fromStdString(kept.goneOn));
        QVERIFY2(match.hasMatch(), kept.goneOn.c_str());
        QVERIFY(match.captured(2).toInt() < int(all));
        const Node* first = m_model->tryFind(match.captured(1).toStdString());
        QVERIFY(first && first->scope.path.starts_with("block2"));
        const Work fresh = work(scratch, late);
        compareWorks(kept, fresh);
        QCOMPARE(kept.checked, std::string("4 kernels of 10;"));
        QCOMPARE(fresh.checked, std::string("10 kernels of 10;"));
        // What lowering alone decides leaves both compared forms as they were.
        Recipe lowering = recipe();
        lowering.loweringRemove.push_back({{"torch.nn.Linear"}, {}});
        const Work lowered = work(chain, lowering);
        QVERIFY(lowered.goneOn.starts_with("nothing to run, 0 of "));
        compareWorks(lowered, work(scratch, lowering));
        QVERIFY(lowered.comparison->loweredTimes.size() > 3
                && lowered.comparison->floatTimes.size() > 10);
    }

    void changesInAnyOrder_data()
    {
        QTest::addColumn<qulonglong>("bytes");
        QTest::addColumn<std::string>("backend");
        QTest::newRow("roomy") << (1ull << 28) << std::string("x86");
        QTest::newRow("sums in place") << (1ull << 28) << std::string("onednn");
        QTest::newRow("too little for all") << 600'000ull << std::string("x86");
        QTest::newRow("hardly any") << 20'000ull << std::string("x86");
    }

    /// However much was kept, and of whatever decisions: every bit is that of a run from scratch.
    void changesInAnyOrder()
    {
        QFETCH(qulonglong, bytes);
        QFETCH(std::string, backend);
        StageChain chain(keeping(bytes)), scratch;
        std::mt19937 random(7);
        std::vector<std::string> modules;
        for (const NodePtr& node : m_model->nodes())
            if (node->isOperator() && !node->scope.path.empty())
                modules.push_back(node->scope.path);
        int goneOn = 0;
        for (int step = 0; step < 12 && !QTest::currentTestFailed(); ++step) {
            Recipe changed = recipe();
            changed.backend = backend;
            QConfig config = *presetQConfig("x86");
            config.activation.kind = ObserverKind::MinMax;
            config.activation.quantMin = 0;
            config.activation.quantMax = 127;
            changed.qconfigs["other"] = config;
            for (std::size_t i = 0; i < 1 + random() % 2; ++i) {
                const std::string& module = modules[random() % modules.size()];
                changed.mapping.rules.push_back(
                    rule(RuleKind::ModuleName, module,
                         random() % 2 ? NamedQConfig {} : NamedQConfig {"other", config}));
            }
            const Work kept = work(chain, changed);
            goneOn += !kept.goneOn.empty();
            compareWorks(kept, work(scratch, changed));
        }
        QVERIFY(goneOn > 6);
        QVERIFY(bytes > 1'000'000 || chain.keptBytes() < (std::size_t(64) << 20));
    }

    /// From extremes no histogram follows: only what is new is looked at.
    void aHistogramNeedsTheData()
    {
        QConfig config = *presetQConfig("x86");
        config.activation.kind = ObserverKind::MinMax;
        Recipe first = recipe();
        first.qconfigs["other"] = config;
        first.mapping.rules.push_back(rule(RuleKind::ModuleName, "block1", {"other", config}));
        StageChain chain, scratch;
        work(chain, first);
        const Work kept = work(chain, recipe());
        QCOMPARE(kept.batches, 4);
        compareWorks(kept, work(scratch, recipe()));
    }

    /// The same scales and kernels in another engine, which rounds otherwise.
    void theEngineComputesToo()
    {
        const auto workOn = [this](StageChain& chain, const std::string& backend) {
            return work(chain,
                        *parseRecipe(R"({"format": "quantscope.recipe", "version": 1, "backend": ")"
                                         + backend + R"(", "mapping": {"global": "default"}})",
                                     "recipe"));
        };
        StageChain chain(keeping()), scratch;
        const auto before = workOn(chain, "x86").comparison->outputs.front();
        const Work after = workOn(chain, "qnnpack");
        compareWorks(after, workOn(scratch, "qnnpack"));
        QVERIFY(after.comparison->outputs.front().cumulative == before.cumulative);
        QVERIFY(after.comparison->outputs.front().lowered != before.lowered);
    }

    void otherDataAreOtherResults()
    {
        StageChain chain, scratch;
        work(chain, recipe());
        const RunSettings before = m_settings;
        m_settings.calibrationData = kOtherData;
        const Work other = work(chain, recipe());
        QCOMPARE(other.batches, 4);
        compareWorks(other, work(scratch, recipe()));
        m_settings = before;
    }

    /// The same path with other content is other data.
    void aReplacedFileIsOtherData()
    {
        QTemporaryDir folder;
        const QString path = folder.filePath("data.npz");
        QVERIFY(QFile::copy(QString::fromLatin1(kData), path));
        const RunSettings before = m_settings;
        m_settings.calibrationData = path.toStdString();
        const DecisionKeys keys
            = decisionKeys("m", recipe(), m_settings, DataState::of(m_settings));
        StageChain chain, scratch;
        const Work first = work(chain, recipe());
        QVERIFY(QFile::remove(path) && QFile::copy(QString::fromLatin1(kOtherData), path));
        const DecisionKeys after
            = decisionKeys("m", recipe(), m_settings, DataState::of(m_settings));
        QVERIFY(keys.calibration != after.calibration);
        QCOMPARE(keys.plan, after.plan);
        const Work second = work(chain, recipe());
        QCOMPARE(second.batches, 4);
        QVERIFY(!(second.calibration->qparams == first.calibration->qparams));
        compareWorks(second, work(scratch, recipe()));
        m_settings = before;
    }

    void recallRunsNothing()
    {
        StageChain chain;
        const auto recalled = [&](const Recipe& recipe) {
            const auto plan = chain.plan(m_model, recipe);
            return plan ? chain.recall({m_model, *plan, recipe, m_settings}, {}) : Recalled();
        };
        QVERIFY(!recalled(recipe()).calibration);
        const Work first = work(chain, recipe());
        const Recalled same = recalled(recipe());
        QCOMPARE(same.calibration, first.calibration);
        QCOMPARE(same.converted, first.converted);
        QCOMPARE(same.comparison, first.comparison);
        // What the calibration saw answers for a new decision; what follows has to be made.
        const Recipe changed = with(rule(RuleKind::ModuleName, "block2.conv2", {}));
        const Recalled other = recalled(changed);
        QVERIFY(other.calibration && !other.converted && !other.comparison);
        StageChain scratch;
        QVERIFY(other.calibration->qparams == work(scratch, changed).calibration->qparams);
    }

    void whatIsKeptIsBounded()
    {
        StageChain chain({.checkpointFolder = {}, .resultBytes = 1, .statisticsBytes = 1});
        work(chain, recipe());
        work(chain, with(rule(RuleKind::ModuleName, "block2.conv2", {})));
        QVERIFY(chain.keptBytes() < (std::size_t(4) << 20));
        compareWorks(work(chain, recipe()), work(*std::make_unique<StageChain>(), recipe()));
    }

    void whatEachStageReads()
    {
        const RunSettings settings {"a.npz", "b.npz", "cpu"};
        const DecisionKeys keys = decisionKeys("m", recipe(), settings, {});
        const auto differ = [&](const char* model, const Recipe& recipe, const RunSettings& data) {
            const DecisionKeys other = decisionKeys(model, recipe, data, {});
            return QStringLiteral("%1%2%3%4")
                .arg(keys.plan != other.plan)
                .arg(keys.calibration != other.calibration)
                .arg(keys.conversion != other.conversion)
                .arg(keys.comparison != other.comparison);
        };
        Recipe lowering = recipe();
        lowering.loweringRemove.push_back({{"torch.nn.Linear"}, {}});
        QCOMPARE(differ("m", lowering, settings), QStringLiteral("1011"));
        Recipe batches = recipe();
        batches.calibration.batches = 5;
        QCOMPARE(differ("m", batches, settings), QStringLiteral("0111"));
        QCOMPARE(differ("m", recipe(), {"a.npz", "c.npz", "cpu"}), QStringLiteral("0001"));
        QCOMPARE(differ("m", recipe(), {"a.npz", "b.npz", "cpu", false, true}),
                 QStringLiteral("0001"));
        QCOMPARE(differ("m", recipe(), {"c.npz", "b.npz", "cpu"}), QStringLiteral("0111"));
        QCOMPARE(differ("n", recipe(), settings), QStringLiteral("1111"));
        QCOMPARE(differ("m", recipe(), settings), QStringLiteral("0000"));
    }
};

QTEST_GUILESS_MAIN(TestStageChain)
#include "tst_stage_chain.moc"
