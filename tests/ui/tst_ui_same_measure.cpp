// SPDX-License-Identifier: GPL-3.0-or-later
#include "engine/runs/run_store.h"
#include "tests/ui/dialogs.h"
#include "tests/ui/edits_window.h"
#include "ui/runs/run_library.h"
#include "ui/session/opened_files.h"
#include "ui/session/search/finder.h"
#include "ui/session/worst_nodes.h"
#include "ui/style/theme.h"
#include "ui/values/value_inspections.h"
#include "ui/values/values_page.h"

#include <QApplication>
#include <QDir>
#include <QFileDialog>
#include <QProcess>
#include <QPushButton>
#include <QTabWidget>
#include <QTimer>

using namespace qs;
using namespace qs::test;

/// What the window measures and reads is what the command line measures and reads for the same
/// words: against the original model, after an undo, after a crash, by the same patterns, from the
/// same files.
class TestSameMeasure : public EditsWindow
{
    Q_OBJECT

private:
    void compare()
    {
        workspace().pipeline().runUpTo(Stage::Compare);
        settle();
        QVERIFY(isCurrent(Stage::Compare));
    }

    /// Runs Python, which ends well.
    static void python(const QStringList& words)
    {
        QProcess process;
        process.start(QStringLiteral(QS_PYTHON), words);
        QVERIFY2(process.waitForFinished(120000) && process.exitCode() == 0,
                 process.readAllStandardError().constData());
    }

    /// Cuts off an activation after the first block.
    void clip()
    {
        Recipe recipe = document().recipe();
        EditStep& step = recipe.edits.emplace_back();
        step.kind = EditKind::Insert;
        step.op = "aten.hardtanh.default";
        step.name = "clip";
        step.at.kind = ValueAddress::Kind::Operator;
        step.at.module = "block1.relu";
        step.at.op = "aten.relu.default";
        step.json = R"({"min_val": 0, "max_val": 0.5})";
        workspace().change(QStringLiteral("clip"), recipe);
        settle();
        QVERIFY(node("clip"));
    }

private Q_SLOTS:
    void initTestCase()
    {
        qputenv("XDG_CONFIG_HOME", m_folder.filePath("config").toUtf8());
        startEngine();
    }
    void init() { openSample(); }
    void cleanup() { m_window.reset(); }

    void valuesFollowTheSwitch()
    {
        clip();
        compare();
        auto* page = m_window->findChild<ValuesPage*>();
        auto* tabs = m_window->findChild<QTabWidget*>("bottomTabs");
        tabs->setCurrentWidget(page);
        select("linear");
        const auto seen = [&] {
            const auto& inspection = page->inspections().inspection();
            return inspection && inspection->name == "linear" && !page->inspections().isStale()
                ? inspection->error->sqnrDb.value_or(0)
                : 0.0;
        };
        const auto measured = [&] {
            const NodeId id = workspace().facts().last(node("linear")->id);
            return *document().comparison()->tryGet(id)->cumulative->sqnrDb;
        };
        QTRY_VERIFY_WITH_TIMEOUT(seen() != 0, 60000);
        const double edited = seen();
        QVERIFY(std::abs(edited - measured()) < 1e-6);
        const auto title = [&] {
            return page->findChild<QLabel*>("valuesTitle")->toolTip()
                + page->findChild<QLabel*>("valuesTitle")->text();
        };
        QVERIFY(!title().contains("original"));
        action(ActionId::AgainstOriginal).trigger();
        compare();
        QTRY_VERIFY_WITH_TIMEOUT(seen() != 0 && seen() != edited, 60000);
        QVERIFY(document().comparison()->againstOriginal);
        QVERIFY2(std::abs(seen() - measured()) < 1e-6,
                 qPrintable(QStringLiteral("%1 %2").arg(seen()).arg(measured())));
        QVERIFY(seen() < edited - 1); // the edit's own error is in
        QTRY_VERIFY(page->inspections().isAgainstOriginal());
        // The command line's number for the same: `checkAgainstTheCommandLine` holds the
        // comparison's.
        checkAgainstTheCommandLine();
    }

    void withoutEditsAllTermsAreThere()
    {
        compare();
        const auto plain = document().comparison();
        action(ActionId::AgainstOriginal).trigger();
        compare();
        const auto original = document().comparison();
        QVERIFY(!original->againstOriginal);
        QCOMPARE(original->nodes.size(), plain->nodes.size());
        for (const NodeError& error : original->nodes) {
            const NodeError* same = plain->tryGet(error.node);
            QVERIFY(same && error.isolated.has_value() == same->isolated.has_value());
            if (error.isolated && error.isolated->sqnrDb)
                QCOMPARE(*error.isolated->sqnrDb, *same->isolated->sqnrDb);
            if (error.bornHere && error.bornHere->sqnrDb)
                QCOMPARE(*error.bornHere->sqnrDb, *same->bornHere->sqnrDb);
        }
        checkAgainstTheCommandLine();
        clip(); // with edits they differ again
        compare();
        QVERIFY(document().comparison()->againstOriginal);
        checkAgainstTheCommandLine();
    }

    void aFusionKeptFloatIsOnePlaceAmongTheWorst()
    {
        const QString model = m_folder.filePath("relu.pt2"), data = m_folder.filePath("relu.npz");
        python({"-c", R"(
import sys, numpy, torch
layers = [torch.nn.Linear(4, 4), torch.nn.ReLU(), torch.nn.Linear(4, 3)]
torch.export.save(torch.export.export(torch.nn.Sequential(*layers).eval(), (torch.zeros(8, 4),)), sys.argv[1])
numpy.savez(sys.argv[2], input=torch.randn(16, 4).numpy())
)",
                model, data});
        m_window->openModel(model);
        QTRY_VERIFY_WITH_TIMEOUT(document().plan() && node("linear_1"), 60000);
        RunSettings settings = document().settings();
        settings.calibrationData = data.toStdString();
        document().setSettings(settings);
        workspace().assign({RuleKind::ModuleName, {"0"}}, std::string());
        settle();
        compare();
        QCOMPARE(document().comparison()->nodes.size(), std::size_t(3));
        const std::vector order {node("linear_1")->id, node("relu")->id};
        QCOMPARE(worstFirst(*document().comparison(), workspace().facts()), order);
        workspace().selection().clear();
        for (const NodeId wanted : {order[0], order[1], order[0]}) {
            action(ActionId::Worst).trigger(); // and it goes on past the fusion
            QVERIFY(workspace().selection().contains(wanted));
        }
    }

    void undoingAPartBringsTheDataBack()
    {
        const RunSettings before = document().settings();
        const QString file = m_folder.filePath("part.npz");
        workspace().selection().selectNodes(
            {node("adaptive_avg_pool2d")->id, node("flatten")->id, node("linear")->id});
        press(Qt::Key_X, Qt::ControlModifier | Qt::AltModifier);
        settle();
        QTRY_VERIFY(action(ActionId::SavePartData).isEnabled());
        atFileDialog(*m_window, file);
        action(ActionId::SavePartData).trigger();
        QTRY_COMPARE_WITH_TIMEOUT(document().settings().calibrationData, file.toStdString(), 60000);
        settle();
        compare();
        workspace().undoStack().undo();
        settle();
        QVERIFY(document().settings() == before);
        compare();
        checkAgainstTheCommandLine(); // on the whole model's data
        workspace().undoStack().redo();
        settle();
        QCOMPARE(document().settings().calibrationData, file.toStdString());
        // Data that the user chose meanwhile stay.
        RunSettings other = document().settings();
        other.calibrationData = (kSamples + "test.npz").toStdString();
        document().setSettings(other);
        workspace().undoStack().undo();
        settle();
        QCOMPARE(document().settings().calibrationData, other.calibrationData);
    }

    void aFileIsMeasuredOnTheSameSamples()
    {
        compare();
        const QString made = m_folder.filePath("theirs");
        const QString data = QString::fromStdString(document().settings().calibrationData);
        commandLine({"quantize", kSamples + "digits.pt2", "--data", data, "--device", "cpu",
                     "--export", "pt2-reference", "--out", made, "--json"});
        const QString file = made + "/model.reference.pt2";
        m_window->runs().addFile(file);
        settle();
        const auto found = [&]() -> const RunEntry* {
            for (const RunEntry& run : m_window->runs().runs())
                if (!run.foreignPath.empty())
                    return &run;
            return nullptr;
        };
        QTRY_VERIFY_WITH_TIMEOUT(found(), 60000);
        // The samples that the runs beside it were measured on, as the command line measures them.
        QCOMPARE(found()->headline.samples, document().comparison()->samples);
        const QString few = m_folder.filePath("few.npz");
        python({"-c", R"(
import sys, numpy
data = numpy.load(sys.argv[1])
numpy.savez(sys.argv[2], **{name: data[name][: int(sys.argv[3])] for name in data})
)",
                data, few, QString::number(document().comparison()->samples)});
        const QJsonObject told = commandLine(
            {"compare", kSamples + "digits.pt2", "--result", file, "--data", few, "--json"});
        QCOMPARE(found()->headline.outputDb().value(),
                 told["outputs"][0]["cumulative"]["sqnr_db"].toDouble());
    }

    void runsOutliveACrash()
    {
        compare();
        auto& runs = m_window->runs();
        QTRY_VERIFY_WITH_TIMEOUT(!runs.runs().empty(), 60000);
        const std::string name = runs.runs().front().label.name;
        const double db = runs.runs().front().headline.outputDb().value();
        const QString folder = runs.folder();
        QVERIFY(folder.startsWith(QFileInfo(unsavedFileFor(kSamples + "digits.pt2")).path()));
        // What a crash would leave: the folder as it is.
        const QString left = m_folder.filePath("left");
        python({"-c", "import shutil, sys; shutil.copytree(*sys.argv[1:])", folder, left});
        m_window.reset();
        QVERIFY(!QFileInfo::exists(folder)); // without a crash nothing stays
        python({"-c", "import shutil, sys; shutil.copytree(*sys.argv[1:])", left, folder});
        openSample();
        QTRY_COMPARE(m_window->runs().runs().size(), std::size_t(1));
        QCOMPARE(m_window->runs().runs().front().label.name, name);
        QCOMPARE(m_window->runs().runs().front().headline.outputDb().value(), db);
        // A project takes them along.
        const QString project = m_folder.filePath("kept.project.json");
        QVERIFY(m_window->projects().saveTo(project));
        QCOMPARE(m_window->runs().runs().size(), std::size_t(1));
        QVERIFY(m_window->runs().folder().startsWith(m_folder.path()));
        QVERIFY(!QFileInfo::exists(folder));
    }

    void anEditedTraceIsSavedWithItsShapes()
    {
        const QString trace = m_folder.filePath("trace.pt"), saved = m_folder.filePath("saved.pt2");
        python({"-c",
                "import sys, torch; m = torch.export.load(sys.argv[1]).module();"
                "torch.jit.trace(m, torch.zeros(8, 1, 8, 8)).save(sys.argv[2])",
                kSamples + "digits.pt2", trace});
        m_window->openModel(trace);
        QTRY_VERIFY_WITH_TIMEOUT(
            document().plan() && document().model()->info().path == trace.toStdString(), 60000);
        settle();
        RunSettings settings = document().settings();
        settings.calibrationData = (kSamples + "calib.npz").toStdString();
        settings.comparisonData.clear();
        document().setSettings(settings);
        settle();
        atFileDialog(*m_window, saved);
        action(ActionId::SaveEdited).trigger();
        QTRY_VERIFY_WITH_TIMEOUT(QFileInfo::exists(saved), 60000);
        const QJsonObject read = commandLine({"inspect", saved, "--json"});
        QVERIFY(!read["nodes"].toArray().isEmpty());
    }

    void onePatternMeansTheSameEverywhere()
    {
        compare();
        for (const char* pattern :
             {"block1\\..*", "stem|head", "block[12]\\.conv1", "(?:block2)\\.\\w+"}) {
            Recipe recipe = defaultRecipe();
            recipe.mapping.rules.push_back({RuleKind::ModuleNameRegex, pattern, "", 0, {}});
            const QString path = m_folder.filePath("pattern.json");
            QFile file(path);
            QVERIFY(file.open(QIODevice::WriteOnly));
            file.write(QByteArray::fromStdString(recipeToJson(recipe)));
            file.close();
            QSet<QString> ruled, found;
            const QJsonObject plan
                = commandLine({"plan", kSamples + "digits.pt2", "--recipe", path, "--json"});
            for (const QJsonValue value : plan["nodes"].toArray()) {
                const QString module = value["module"].toString();
                if (value["rule"]["kind"].toString() == "module_name_regex")
                    ruled << value["name"].toString();
            }
            m_window->finder().setExpression(QStringLiteral("/^(%1)/").arg(pattern));
            QCOMPARE(m_window->finder().error(), QString());
            for (const int unit : m_window->finder().results())
                for (const NodeId id : workspace().foldTree()->nodesOf(unit))
                    found << QString::fromStdString(document().model()->get(id).name);
            QVERIFY2(!ruled.isEmpty(), pattern);
            QVERIFY2(found.contains(ruled),
                     qPrintable(QStringList((ruled - found).values()).join(' ')));
        }
        // What the one refuses, the other does, in the same words.
        for (const char* pattern : {"(?=conv)", "conv(", "(a)\\1", "(((a{100}){100}){100})"}) {
            m_window->finder().setExpression(QStringLiteral("/%1/").arg(pattern));
            Recipe recipe = defaultRecipe();
            recipe.mapping.rules.push_back({RuleKind::ModuleNameRegex, pattern, "", 0, {}});
            const auto read = parseRecipe(recipeToJson(recipe), "r.json");
            QVERIFY2(!read, pattern);
            const QString said = m_window->finder().error();
            QVERIFY2(!said.isEmpty()
                         && QString::fromStdString(read.error().line())
                                .contains(said.section(';', 0, 0)),
                     qPrintable(said));
        }
    }

    void whatLiesOutsideIsAskedOnce()
    {
        const QString path = m_folder.filePath("outside.project.json");
        QFile file(path);
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(
            QStringLiteral(R"({"format": "quantscope.project", "version": 1, "model": "%1"})")
                .arg(kSamples + "digits.pt2")
                .toUtf8());
        file.close();
        const int before = document().modelNumber();
        m_window->openModel(path);
        QTRY_VERIFY(m_window->messageBar().headline().contains("outside its folder"));
        QVERIFY(m_window->messageBar().detail().contains("digits.pt2"));
        settle();
        QCOMPARE(document().modelNumber(), before); // nothing was read
        QPushButton* yes = nullptr;
        for (auto* button : m_window->messageBar().findChildren<QPushButton*>())
            if (button->text() == "Read them")
                yes = button;
        if (!yes)
            QFAIL("no button offers to read them");
        yes->click();
        QTRY_VERIFY_WITH_TIMEOUT(document().modelNumber() != before && document().plan(), 60000);
        QCOMPARE(m_window->projects().projectPath(), path);
        settle();
        // Not asked again, and the command line knows the answer.
        m_window.reset();
        openSample();
        const int again = document().modelNumber();
        m_window->openModel(path);
        QTRY_VERIFY_WITH_TIMEOUT(document().modelNumber() != again && document().plan(), 60000);
        QVERIFY(!commandLine({"plan", path, "--json"})["nodes"].toArray().isEmpty());
    }
};

int main(int argc, char** argv)
{
    QApplication app(argc, argv);
    applyTheme(app, false);
    TestSameMeasure test;
    return QTest::qExec(&test, argc, argv);
}

#include "tst_ui_same_measure.moc"
