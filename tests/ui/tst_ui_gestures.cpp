// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/configure/recipe.h"
#include "tests/support/command_line.h"
#include "tests/support/random_edit.h"
#include "tests/ui/shown_numbers.h"
#include "ui/session/engine_session.h"
#include "ui/shell/main_window.h"
#include "ui/shell/project_files.h"
#include "ui/style/theme.h"

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QtTest>

#include <map>
#include <random>

using namespace qs;

namespace {

const QString kSamples = QStringLiteral(QS_SOURCE_DIR "/resources/samples/");

/// A few modules and nodes that decisions are aimed at: few enough that decisions come again.
const char* const kModules[] = {"block1.conv2", "block2", "head", "block1"};

} // namespace

/// The window on the real engine, driven by random gestures. After each, every number that it shows
/// as current is the command line's for the same decisions; whatever else it shows is marked stale.
class TestGestures : public QObject
{
    Q_OBJECT

private:
    QTemporaryDir m_folder;
    std::unique_ptr<EngineService> m_engine;
    std::unique_ptr<MainWindow> m_window;
    std::mt19937 m_random;
    CommandLine m_commandLine {kSamples + "digits.pt2", m_folder.path()};
    QString m_project;
    int m_edits = 0;
    int m_compared = 0, m_labelled = 0, m_exports = 0;

    Workspace& workspace() { return m_window->workspace(); }
    Document& document() { return workspace().document(); }
    Pipeline& pipeline() { return workspace().pipeline(); }
    int dice(int sides) { return int(m_random() % unsigned(sides)); }

    void settle() { QTRY_VERIFY_WITH_TIMEOUT(!pipeline().isBusy(), 120000); }

    bool isCurrent(Stage stage)
    {
        return document().hasResult(stage) && !document().isStale(stage);
    }

    QJsonObject told()
    {
        return m_commandLine.quantize(document().recipe(), document().settings());
    }

    void checkObserver(const QJsonValue& wanted, ObserverId observer)
    {
        checkScales(wanted, workspace().facts().qparams(observer),
                    workspace().facts().stats(observer));
    }

    void checkNode(const QJsonObject& wanted)
    {
        const Facts& facts = workspace().facts();
        const Node* node = document().model()->tryFind(wanted["name"].toString().toStdString());
        QVERIFY(node);
        if (!node->isOperator())
            return;
        const NodePlan* plan = facts.plan(node->id);
        QVERIFY(plan);
        QCOMPARE(plan->quantized, wanted["quantized"].toBool());
        if (isCurrent(Stage::Calibrate)) {
            if (facts.last(node->id) == node->id)
                checkObserver(wanted["output"], facts.outputObserver(node->id));
            const MatchGroup* group = facts.group(node->id);
            if (wanted["weight"].isObject() && group && group->root == node->id)
                checkObserver(wanted["weight"], facts.weightObserver(node->id));
        }
        // The members of a fusion show what stands on the last.
        if (!isCurrent(Stage::Compare) || facts.last(node->id) != node->id)
            return;
        const NodeError* error = facts.error(node->id);
        QCOMPARE(error != nullptr, wanted["error"].isObject());
        if (!error)
            return;
        const QJsonObject terms = wanted["error"].toObject();
        checkTerm(terms["isolated"], error->isolated);
        checkTerm(terms["inherited"], error->inherited);
        checkTerm(terms["born_here"], error->bornHere);
        checkTerm(terms["cumulative"], error->cumulative);
    }

    void checkStale()
    {
        QCOMPARE(workspace().facts().calibrationStale(), document().isStale(Stage::Calibrate));
        QCOMPARE(workspace().facts().errorsStale(), document().isStale(Stage::Compare));
        for (const Stage stage : {Stage::Calibrate, Stage::Convert, Stage::Compare}) {
            const StageStatus status = pipeline().status(stage);
            const bool done = status.state == StageStatus::State::Done;
            QCOMPARE(done, isCurrent(stage));
            if (document().isStale(stage))
                QVERIFY(!document().staleReason(stage).isEmpty());
        }
        QCOMPARE(m_window->windowTitle().contains(QLatin1Char('*')), document().isModified());
    }

    void check()
    {
        settle();
        QVERIFY(isCurrent(Stage::Plan));
        checkStale();
        if (!isCurrent(Stage::Calibrate))
            return;
        const QJsonObject wanted = told();
        for (const QJsonValue node : wanted["nodes"].toArray()) {
            checkNode(node.toObject());
            if (QTest::currentTestFailed())
                return;
        }
        if (!isCurrent(Stage::Compare))
            return;
        ++m_compared;
        checkTop1(wanted, *document().comparison(), *m_window);
        m_labelled += wanted["labels"].isObject();
        const QJsonArray outputs = wanted["outputs"].toArray();
        const auto& shown = document().comparison()->outputs;
        QCOMPARE(qsizetype(shown.size()), outputs.size());
        for (qsizetype i = 0; i < outputs.size(); ++i) {
            checkTerm(outputs[i].toObject()["cumulative"], shown[std::size_t(i)].cumulative);
            checkTerm(outputs[i].toObject()["lowered"], shown[std::size_t(i)].lowered);
        }
    }

    void exportAll()
    {
        const QString folder = m_folder.filePath("export");
        QSignalSpy failures(&pipeline(), &Pipeline::failed);
        pipeline().exportTo({folder, {"torchscript"}});
        settle();
        QCOMPARE(failures.count(), 0);
        QFile file(folder + "/result.json");
        QVERIFY(file.open(QIODevice::ReadOnly));
        const QJsonArray nodes
            = QJsonDocument::fromJson(file.readAll()).object()["nodes"].toArray();
        const QJsonArray wanted = told()["nodes"].toArray();
        QCOMPARE(nodes.size(), wanted.size());
        for (qsizetype i = 0; i < nodes.size(); ++i)
            for (const char* key : {"name", "quantized", "output", "weight", "inputs"})
                QCOMPARE(nodes[i].toObject()[key], wanted[i].toObject()[key]);
        ++m_exports;
    }

    void changeRecipe(const QString& what, const std::function<void(Recipe&)>& change)
    {
        Recipe recipe = document().recipe();
        change(recipe);
        workspace().change(what, recipe);
    }

    void openModel(const QString& path)
    {
        m_window->openModel(path);
        settle();
        if (path == m_project)
            return;
        RunSettings settings = document().settings();
        settings.comparisonData.clear();
        settings.device = "cpu";
        document().setSettings(settings);
        changeRecipe("few batches", [](Recipe& recipe) { recipe.calibration.batches = 2; });
    }

    QString gesture()
    {
        auto& undo = workspace().undoStack();
        const AssignTarget module {RuleKind::ModuleName, {kModules[dice(4)]}};
        switch (dice(18)) {
        case 0:
            workspace().assign(module, std::string("default"));
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
        case 7: {
            RunSettings settings = document().settings();
            settings.calibrationData
                = (kSamples + (dice(2) ? "calib.npz" : "test.npz")).toStdString();
            document().setSettings(settings);
            return "other data";
        }
        case 8:
            changeRecipe("batches",
                         [&](Recipe& recipe) { recipe.calibration.batches = 2 + dice(2); });
            return "other batches";
        case 9:
            workspace().chooseBackend(dice(2) ? "x86" : "qnnpack");
            return "backend";
        case 10:
            changeRecipe("lowering", [](Recipe& recipe) {
                if (recipe.loweringRemove.empty())
                    recipe.loweringRemove.push_back({{"torch.nn.Linear"}, {}});
                else
                    recipe.loweringRemove.clear();
            });
            return "lowering row";
        case 16:
            changeRecipe("edit", [this](Recipe& recipe) {
                recipe.edits.push_back(randomEdit(*document().edited(), m_random, ++m_edits));
            });
            return "edit the graph";
        case 17:
            changeRecipe("take away", [&](Recipe& recipe) {
                if (!recipe.edits.empty())
                    recipe.edits.erase(recipe.edits.begin() + dice(int(recipe.edits.size())));
            });
            return "take an edit away";
        case 11:
            pipeline().runUpTo(Stage::Convert);
            return "convert";
        case 12:
        case 13:
            pipeline().runUpTo(Stage::Compare);
            return "compare";
        case 14:
            if (!m_window->projects().saveTo(m_project))
                qFatal("the project cannot be saved");
            settle();
            if (dice(2))
                openModel(m_project);
            return "save, perhaps reopen";
        default:
            if (dice(3) == 0)
                openModel(kSamples + "digits.pt2");
            else
                exportAll();
            return "export or open";
        }
    }

private Q_SLOTS:
    void initTestCase()
    {
        QStandardPaths::setTestModeEnabled(true);
        m_project = m_folder.filePath("work.json");
        m_engine = makeEngineSession();
        m_window = std::make_unique<MainWindow>(*m_engine);
        openModel(kSamples + "digits.pt2");
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
        settings.calibrationData = (kSamples + "test.npz").toStdString();
        document().setSettings(settings);
        for (const Stage stage : {Stage::Calibrate, Stage::Convert, Stage::Compare}) {
            QCOMPARE(pipeline().status(stage).state, StageStatus::State::Stale);
            QCOMPARE(document().staleReason(stage), QStringLiteral("data changed"));
        }
        pipeline().runUpTo(Stage::Calibrate);
        settle();
        QVERIFY(isCurrent(Stage::Calibrate) && !isCurrent(Stage::Convert));
        exportAll();
        settings.calibrationData = (kSamples + "calib.npz").toStdString();
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
        const auto engine = makeEngineSession();
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
        m_window = std::make_unique<MainWindow>(*m_engine);
        openModel(kSamples + "digits.pt2");
    }

    /// QS_GESTURES=N goes on for longer.
    void numbersAreTheCommandLines()
    {
        m_random.seed(7);
        const int gestures = std::max(100, qEnvironmentVariableIntValue("QS_GESTURES"));
        QStringList done;
        for (int i = 0; i < gestures; ++i) {
            settle();
            done << gesture();
            check();
            if (QTest::currentTestFailed()) {
                qWarning("after gesture %d: %s", i + 1,
                         qPrintable(done.mid(std::max(0, i - 12)).join(", ")));
                return;
            }
        }
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
