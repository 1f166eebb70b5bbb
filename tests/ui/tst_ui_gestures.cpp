// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/random_edit.h"
#include "tests/ui/gestures_window.h"
#include "ui/style/theme.h"

#include <array>

using namespace qs;
using namespace qs::test;

/// The window on the real engine, driven by random gestures. After each, every number that it shows
/// as current is the command line's for the same decisions; whatever else it shows is marked stale.
class TestGestures : public GesturesWindow
{
    Q_OBJECT

private:
    static constexpr std::array kQConfigs {
        "default",         "x86", "qnnpack", "default_per_channel", "default_dynamic",
        "float16_dynamic", ""};
    static constexpr std::array kBackends {"x86", "qnnpack", "fbgemm", "onednn"};
    static constexpr std::array kTypes {"torch.nn.Linear", "torch.nn.Conv2d",
                                        "torch.nn.functional.relu", "aten.add.Tensor"};

    template<std::size_t N>
    std::string anyOf(const std::array<const char*, N>& words)
    {
        return words[std::size_t(dice(int(N)))];
    }

    QString decideOnAnEdge()
    {
        const auto& nodes = document().model()->nodes();
        workspace().selectNode(nodes[std::size_t(dice(int(nodes.size())))]->id);
        const std::vector<Edge> edges = edgesAround(workspace());
        if (edges.empty())
            return "no edge";
        const Edge edge = edges[std::size_t(dice(int(edges.size())))];
        assignEdge(workspace(), edge, dice(2) > 0,
                   dice(3) ? std::optional(anyOf(kQConfigs)) : std::nullopt);
        return "qconfig of " + edgeText(workspace().facts(), edge);
    }

    QString changeSettings(const QString& what, const std::function<void(RunSettings&)>& change)
    {
        RunSettings settings = document().settings();
        change(settings);
        document().setSettings(settings);
        return what;
    }

    QString switchLinearLowering()
    {
        changeRecipe("lowering", [](Recipe& recipe) {
            if (recipe.loweringRemove.empty())
                recipe.loweringRemove.push_back({{"torch.nn.Linear"}, {}});
            else
                recipe.loweringRemove.clear();
        });
        return "lowering row";
    }

    QString editTheGraph()
    {
        changeRecipe("edit", [this](Recipe& recipe) {
            recipe.edits.push_back(randomEdit(*document().edited(), m_random, ++m_edits));
        });
        return "edit the graph";
    }

    QString takeAnEditAway()
    {
        changeRecipe("take away", [&](Recipe& recipe) {
            if (!recipe.edits.empty())
                recipe.edits.erase(recipe.edits.begin() + dice(int(recipe.edits.size())));
        });
        return "take an edit away";
    }

    QString saveAndPerhapsReopen()
    {
        if (!m_window->projects().saveTo(m_project))
            qFatal("the project cannot be saved");
        settle();
        if (dice(2))
            openModel(m_project);
        return "save, perhaps reopen";
    }

    QString gesture()
    {
        auto& undo = workspace().undoStack();
        const auto& modules = m_walked.modules;
        const AssignTarget module {RuleKind::ModuleName,
                                   {modules[std::size_t(dice(int(modules.size())))]}};
        switch (dice(26)) {
        case 0:
            workspace().assign(module, anyOf(kQConfigs));
            return "qconfig";
        case 1:
        case 2:
            workspace().assign(module, std::string());
            return "keep float";
        case 3:
            workspace().assign(module, std::nullopt);
            return "clear";
        case 4:
        case 5:
            undo.undo();
            return "undo";
        case 6:
            undo.redo();
            return "redo";
        case 7:
            return changeSettings("other data", [this](RunSettings& settings) {
                settings.calibrationData
                    = (dice(2) ? m_walked.data : m_walked.otherData).toStdString();
            });
        case 22:
            return changeSettings("compare on other data", [this](RunSettings& settings) {
                settings.comparisonData
                    = std::array {QString(), m_walked.data, m_walked.otherData}[dice(3)]
                          .toStdString();
            });
        case 8:
            changeRecipe("batches",
                         [&](Recipe& recipe) { recipe.calibration.batches = 2 + dice(2); });
            return "other batches";
        case 9:
            workspace().chooseBackend(anyOf(kBackends));
            return "backend";
        case 10:
            return switchLinearLowering();
        case 16:
            return editTheGraph();
        case 17:
            return takeAnEditAway();
        case 18:
            return changeSettings("against the other model", [](RunSettings& settings) {
                settings.againstOriginal = !settings.againstOriginal;
            });
        case 19:
            return decideOnAnEdge();
        case 20:
            workspace().assign({RuleKind::ObjectType, {anyOf(kTypes)}},
                               dice(3) ? std::optional(anyOf(kQConfigs)) : std::nullopt);
            return "qconfig of a type";
        case 21:
            changeRecipe("batch size",
                         [&](Recipe& recipe) { recipe.calibration.batchSize = 4 + 4 * dice(2); });
            return "other size of batches";
        default:
            return work();
        }
    }

    QString work()
    {
        switch (dice(9)) {
        case 0:
            runs("none", [this] { pipeline().runUpTo(Stage::Convert); });
            return "convert";
        case 1:
        case 2:
        case 3:
        case 4:
            runs("none", [this] { pipeline().runUpTo(Stage::Compare); });
            return "compare";
        case 5:
            return saveAndPerhapsReopen();
        case 6:
            openModel(m_walked.model);
            return "open";
        default:
            exportAll();
            return "export";
        }
    }

private Q_SLOTS:
    void initTestCase()
    {
        QStandardPaths::setTestModeEnabled(true);
        m_project = m_folder.filePath("work.json");
        m_window = std::make_unique<MainWindow>(m_engine);
        openModel(m_walked.model);
        QVERIFY(document().model());
    }

    /// Another plan numbers its observers otherwise: what is shown of a value stays with it.
    void statisticsStayWithTheirValues()
    {
        pipeline().runUpTo(Stage::Compare);
        settle();
        QVERIFY(isCurrent(Stage::Compare));
        struct Shown
        {
            float min, max, scale;
        };
        const auto shown = [this] {
            std::map<NodeId, Shown> out;
            const Facts& facts = workspace().facts();
            for (const NodePtr& node : document().model()->nodes()) {
                const ObserverId observer = facts.outputObserver(node->id);
                const ObserverStats* stats = facts.stats(observer);
                const QParams* params = facts.qparams(observer);
                if (stats && params)
                    out[node->id] = {stats->min, stats->max, params->scale.at(0)};
            }
            return out;
        };
        const auto before = shown();
        QVERIFY(before.size() > 5);
        int compared = 0;
        QSignalSpy plans(&document(), &Document::planChanged);
        workspace().assign({RuleKind::ModuleName, {"stem"}}, std::string());
        workspace().assign({RuleKind::ModuleName, {"block1.conv1"}}, std::string());
        const auto compare = [&] {
            for (const auto& [node, now] : shown())
                if (const auto it = before.find(node); it != before.end()) {
                    QCOMPARE(now.min, it->second.min);
                    QCOMPARE(now.max, it->second.max);
                    QCOMPARE(now.scale, it->second.scale);
                    ++compared;
                }
        };
        QTRY_VERIFY(plans.count() > 0); // the older calibration under the new plan
        compare();
        settle();
        compare(); // the one that follows from what was kept
        QVERIFY(compared > 10);
        workspace().undoStack().undo();
        workspace().undoStack().undo();
        settle();
        QVERIFY(isCurrent(Stage::Compare));
    }

    /// Other data with the same settings: nothing of the data before is current, or exported.
    void otherDataAreNotMixedWithTheBefore()
    {
        RunSettings settings = document().settings();
        settings.calibrationData = m_walked.otherData.toStdString();
        document().setSettings(settings);
        for (const Stage stage : {Stage::Calibrate, Stage::Convert, Stage::Compare}) {
            QCOMPARE(pipeline().status(stage).state, StageStatus::State::Stale);
            QCOMPARE(document().staleReason(stage), QStringLiteral("data changed"));
        }
        pipeline().runUpTo(Stage::Calibrate);
        settle();
        QVERIFY(isCurrent(Stage::Calibrate) && !isCurrent(Stage::Convert));
        exportAll();
        settings.calibrationData = m_walked.data.toStdString();
        document().setSettings(settings);
        settle();
        QVERIFY(isCurrent(Stage::Compare)); // back again, without a run
    }

    /// A project opened by another window shows the results that it was saved with.
    void reopenedProjectsShowTheirResults()
    {
        pipeline().runUpTo(Stage::Compare);
        settle();
        QVERIFY(m_window->projects().saveTo(m_project));
        settle();
        const auto engine = makeEngine();
        m_window.reset();
        m_window = std::make_unique<MainWindow>(*engine);
        openModel(m_project);
        QTRY_VERIFY_WITH_TIMEOUT(isCurrent(Stage::Compare), 60000);
        QVERIFY(!document().isModified());
        check();
        // Its results folder opens as well.
        m_window->openModel(m_folder.filePath("work.results"));
        settle();
        QTRY_VERIFY_WITH_TIMEOUT(isCurrent(Stage::Compare), 60000);
        check();
        // Other data by now: not shown.
        m_window.reset();
        m_window = std::make_unique<MainWindow>(m_engine);
        openModel(m_walked.model);
    }

    /// QS_GESTURES=N goes on for longer, QS_SEED=N makes others, QS_WALK=MODEL on another model.
    void numbersAreTheCommandLines()
    {
        const int seed = qEnvironmentVariableIntValue("QS_SEED");
        m_random.seed(seed > 0 ? unsigned(seed) : 7U);
        const int gestures = std::max(120, qEnvironmentVariableIntValue("QS_GESTURES"));
        QStringList done;
        for (int i = 0; i < gestures; ++i) {
            settle();
            done << gesture();
            check();
            if (QTest::currentTestFailed()) {
                qWarning("after gesture %d: %s", i + 1,
                         qPrintable(done.mid(std::max(0, i - 12)).join(", ")));
                qWarning("on %s, compared on '%s', by %s",
                         document().settings().calibrationData.c_str(),
                         document().settings().comparisonData.c_str(),
                         recipeToJson(document().recipe()).c_str());
                return;
            }
        }
        QVERIFY(m_compared > 0);
        if (seed > 0)
            return; // of other gestures not everything can be asked
        QVERIFY2(m_compared >= 15, qPrintable(QString::number(m_compared)));
        QVERIFY(m_labelled > 0 && m_labelled < m_compared);
        QVERIFY(m_exports >= 2);
    }

    void cleanupTestCase() { m_window.reset(); }
};

int main(int argc, char** argv)
{
    QApplication app(argc, argv);
    applyTheme(app, false);
    TestGestures test;
    return QTest::qExec(&test, argc, argv);
}
#include "tst_ui_gestures.moc"
