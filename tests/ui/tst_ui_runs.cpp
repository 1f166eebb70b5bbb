// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/ui/runs_window.h"
#include "ui/frame/actions.h"
#include "ui/panels/property_panel.h"
#include "ui/runs/run_table_model.h"
#include "ui/shell/project_files.h"
#include "ui/style/theme.h"

#include <QAbstractItemModelTester>
#include <QApplication>
#include <QClipboard>
#include <QLineEdit>
#include <QMessageBox>
#include <QPushButton>
#include <QSignalSpy>
#include <QTabWidget>
#include <QTextEdit>

using namespace qs;

/// Runs kept and side by side in the window, beside what the command line says of the same.
class TestRuns : public test::RunsWindow
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { openAndCompare(); }
    void cleanupTestCase() { m_window.reset(); }

    void everyComparisonIsKept()
    {
        QCOMPARE(names(), QStringList("x86"));
        QVERIFY(!runs().runs().front().label.isNamed);
        QCOMPARE(runs().standing(runs().runs().front()), QString("current decisions"));
        // A decision, compared: a run of that decision's name. Made again: no other one.
        const auto first = document().comparison();
        AssignTarget target;
        target.kind = RuleKind::ModuleName;
        target.keys = {"stem.conv"};
        QTest::qWait(1100); // runs are distinguished by the second
        workspace().assign(target, "");
        const QString decision = "stem.conv float";
        settle();
        compareAgain();
        QTRY_COMPARE(names(), QStringList({decision, "x86"}));
        workspace().undoStack().undo();
        settle();
        QTRY_COMPARE(document().comparison(), first);
        workspace().undoStack().redo();
        settle();
        QTRY_VERIFY(!document().isStale(Stage::Compare));
        QCOMPARE(names().size(), 2);
        QCOMPARE(runs().standing(runs().runs().front()), QString("current decisions"));
        QCOMPARE(runs().standing(runs().runs().back()), QString("other decisions"));
    }

    void savedProjectsTakeThemAlong()
    {
        m_project = m_folder.filePath("work.project.json");
        QVERIFY(m_window->projects().saveTo(m_project));
        settle();
        QCOMPARE(names().size(), 2);
        for (const RunEntry& run : runs().runs())
            QVERIFY(QString::fromStdString(run.folder)
                        .startsWith(m_folder.filePath("work.project.runs/")));
        const QJsonArray listed
            = test::commandLine({"runs", m_project, "--json"})["runs"].toArray();
        QCOMPARE(int(listed.size()), 2);
        for (int i = 0; i < 2; ++i) {
            const RunEntry& run = runs().runs()[std::size_t(i)];
            QCOMPARE(listed[i]["name"].toString().toStdString(), run.label.name);
            QCOMPARE(listed[i]["output_db"].toDouble(), run.headline.outputDb().value_or(0));
        }
    }

    /// By keyboard: to the list, a name, two rows, the table.
    void namedAndPutSideBySide()
    {
        m_window->activateWindow();
        key(&pane().view(), Qt::Key_R, Qt::ControlModifier | Qt::ShiftModifier);
        QCOMPARE(find<QTabWidget>("bottomTabs")->currentWidget()->objectName(),
                 QString("runsPanel"));
        list().setFocus();
        key(&list(), Qt::Key_Home);
        answer("stem in float");
        key(&list(), Qt::Key_F2);
        QTRY_COMPARE(names(), QStringList({"stem in float", "x86"}));
        key(&list(), Qt::Key_Home);
        key(&list(), Qt::Key_Down, Qt::ShiftModifier);
        QTRY_VERIFY(runs().table());
        QCOMPARE(item("x86")->text(0), QString("A")); // the older one
        QCOMPARE(item("stem in float")->text(0), QString("B"));
        QVERIFY(find<QTextEdit>("runsRecipes")->toPlainText().contains("stem.conv: now float"));
        QVERIFY(rows() > 15);
    }

    void everyNumberIsTheCommandLines()
    {
        auto* model = m_window->findChild<RunTableModel*>();
        QAbstractItemModelTester tester(model,
                                        QAbstractItemModelTester::FailureReportingMode::QtTest);
        const QJsonObject diff = test::commandLine(
            {"diff", m_project + ":x86", m_project + ":stem in float", "--json"});
        const QJsonArray nodes = diff["nodes"].toArray();
        QCOMPARE(int(nodes.size()), model->rowCount());
        int numbers = 0;
        for (int row = 0; row < model->rowCount(); ++row) {
            const QJsonObject node = nodes[row].toObject();
            const RunTable& shown = *model->table();
            QCOMPARE(shown.rows()[model->placeOf(row)].name, node["node"].toString().toStdString());
            for (std::size_t i = 0; i < shown.columns().size(); ++i) {
                const RunColumn& column = shown.columns()[i];
                const QVariant value = model->index(row, int(i)).data(Qt::UserRole);
                const QJsonObject run = node["runs"][int(column.run)].toObject();
                const QString key = QString::fromStdString(column.key);
                if (column.kind == RunColumn::Kind::Metric) {
                    const auto wanted = told(run, std::string(errorTermName(column.term)).c_str(),
                                             std::string(kRunMetrics[column.metric]).c_str());
                    QCOMPARE(value.isValid(), wanted.has_value());
                    if (wanted)
                        QCOMPARE(value.toDouble(), *wanted);
                    numbers += wanted.has_value();
                } else if (column.kind == RunColumn::Kind::Difference) {
                    const QJsonValue wanted = node["differences"][key];
                    QCOMPARE(value.isValid(), wanted.isDouble());
                    if (wanted.isDouble())
                        QCOMPARE(value.toDouble(), wanted.toDouble());
                } else if (column.kind == RunColumn::Kind::State) {
                    QCOMPARE(value.toString(), node["where"].toString());
                } else if (key.endsWith("qconfig")) {
                    QCOMPARE(value.toString(), run["qconfig"].toString());
                }
            }
        }
        QVERIFY(numbers > 100);
        for (std::size_t run = 0; run < 2; ++run) {
            const QJsonObject head = diff["runs"][int(run)]["headline"].toObject();
            auto* row
                = item(QString::fromStdString(m_window->runs().table()->runs()[run]->label.name));
            QCOMPARE(row->text(3), QString::number(head["output_db"].toDouble(), 'f', 2));
            QCOMPARE(row->text(5),
                     QStringLiteral("%1 of %2 eligible")
                         .arg(head["quantized"].toInt())
                         .arg(head["eligible"].toInt()));
        }
    }

    void anyColumnSortsAndTheSearchFilters()
    {
        for (const QString title : {"B cumulative dB", "B − A cumulative MSE"}) {
            const int place = column(title);
            QVERIFY(place > 0);
            for (const Qt::SortOrder order : {Qt::AscendingOrder, Qt::DescendingOrder}) {
                table().sortByColumn(place, order);
                bool ended = false;
                for (int row = 1; row < rows(); ++row) {
                    ended |= !cell(row, place).isValid();
                    QVERIFY(cell(row, place).isValid() != ended); // without a number: last
                    if (!ended && order == Qt::AscendingOrder)
                        QVERIFY(cell(row - 1, place).toDouble() <= cell(row, place).toDouble());
                    else if (!ended)
                        QVERIFY(cell(row - 1, place).toDouble() >= cell(row, place).toDouble());
                }
            }
        }
        const int all = rows();
        find<QLineEdit>("runsFilter")->setText("module:block1");
        QVERIFY(rows() > 0 && rows() < all);
        for (int row = 0; row < rows(); ++row)
            QVERIFY(cell(row, column("module")).toString().startsWith("block1"));
        QCOMPARE(find<QLabel>("runsNote")->text(), QStringLiteral("%1 of %2").arg(rows()).arg(all));
        find<QLineEdit>("runsFilter")->clear();
        QCOMPARE(rows(), all);
        table().clearSelection();
        find<QPushButton>("runsCopy")->click();
        const QStringList lines
            = QApplication::clipboard()->text().split("\r\n", Qt::SkipEmptyParts);
        QCOMPARE(int(lines.size()), rows() + 1);
        QVERIFY(lines[0].startsWith("state,node,operator,module,A verdict,A qconfig,A dtype"));
    }

    void aRowSelectsItsNode()
    {
        const QModelIndex index = table().model()->index(2, column("node"));
        table().scrollTo(index);
        QTest::mouseClick(table().viewport(), Qt::LeftButton, {},
                          table().visualRect(index).center());
        QVERIFY(workspace().selection().contains(
            graph().tryFind(index.data(RunTableModel::kNameRole).toString().toStdString())->id));
    }

    /// B goes through the runs, in every view, and says that they are not the current result.
    void bSwitchesBetweenThem()
    {
        m_window->activateWindow();
        QTRY_VERIFY(m_window->isActiveWindow());
        pane().view().setFocus();
        const NodeId relu = graph().tryFind("relu")->id;
        const double current = workspace().facts().sqnr(relu, ErrorTerm::Cumulative).value();
        for (const int run : {0, 1, 0}) {
            key(&pane().view(), Qt::Key_B);
            const ShownRunPtr shown = workspace().shownRun();
            QVERIFY(shown);
            QCOMPARE(shown->letter, QString(QChar('A' + run)));
            const auto& nodes = shown->record->nodes;
            int same = 0;
            for (const RunNode& node : nodes) {
                const Node* own = graph().tryFind(node.name);
                if (!own || workspace().facts().last(own->id) != own->id)
                    continue;
                for (const ErrorTerm term : {ErrorTerm::BornHere, ErrorTerm::Cumulative}) {
                    const auto value = workspace().facts().sqnr(own->id, term);
                    const auto& wanted = node.errors.term(term);
                    QCOMPARE(value.has_value(), wanted && wanted->sqnrDb);
                    if (value)
                        QCOMPARE(*value, *wanted->sqnrDb);
                    same += value.has_value();
                }
            }
            QVERIFY(same > 10);
            QCoreApplication::processEvents();
            const QString title = shown->title();
            QTRY_COMPARE(label("resultStale"), title + " · not the current decisions");
            QCOMPARE(label("resultOutput").section(' ', 0, 0),
                     QString::number(shown->record->headline.outputDb().value(), 'f', 1));
            QVERIFY(item(QString::fromStdString(shown->record->label.name))->text(0).contains("●"));
            workspace().selectNode(relu);
            bool said = false;
            for (const auto* text : m_window->propertyPanel().findChildren<QLabel*>())
                said |= text->text() == title + ": not of the current decisions.";
            QTRY_VERIFY(said);
        }
        key(&pane().view(), Qt::Key_B, Qt::ShiftModifier);
        QVERIFY(!workspace().shownRun());
        QCOMPARE(workspace().facts().sqnr(relu, ErrorTerm::Cumulative).value(), current);
        QTRY_VERIFY(find<QLabel>("resultStale")->isHidden());
    }

    /// A change of the graph drops the current result, not the run: nodes keep their figures.
    void aRunStaysThroughAnEdit()
    {
        QVERIFY(runs().showNext());
        const Recipe before = document().recipe();
        const NodeId head = graph().tryFind("linear")->id;
        const auto shown = workspace().facts().sqnr(head, ErrorTerm::Cumulative);
        QVERIFY(shown);
        workspace().change("insert", withMore(before));
        QTRY_VERIFY(graph().tryFind("more"));
        settle();
        QVERIFY(!document().comparison());
        QVERIFY(workspace().shownRun());
        QCOMPARE(workspace().facts().sqnr(head, ErrorTerm::Cumulative), shown);
        QVERIFY(!workspace().facts().sqnr(graph().tryFind("more")->id, ErrorTerm::Cumulative));
        workspace().undoStack().undo();
        settle();
        QCOMPARE(document().recipe(), before);
        QTRY_VERIFY(document().comparison()); // recalled: it takes the run's place
        QVERIFY(!workspace().shownRun());
    }

    void aNewResultTakesTheRunsPlace()
    {
        QVERIFY(runs().showNext());
        compareAgain();
        QTRY_VERIFY(!workspace().shownRun());
    }

    void itsDecisionsCanBeUsedAndTakenBack()
    {
        const Recipe before = document().recipe();
        list().clearSelection();
        list().setCurrentItem(item("x86"));
        find<QPushButton>("runsUse")->click();
        Recipe kept = m_start; // its target was not chosen; the kept result names it
        kept.backend = kept.target();
        QCOMPARE(document().recipe(), kept);
        settle();
        workspace().undoStack().undo();
        QCOMPARE(document().recipe(), before);
        settle();
    }

    /// The export of this model, as another program's file.
    void anotherProgramsFileJoins()
    {
        const QString out = m_folder.filePath("exported");
        QProcess process;
        process.start(QStringLiteral(QS_BINARY_DIR "/bin/quantscope"),
                      {"quantize", test::kSamples + "digits.pt2", "--data",
                       test::kSamples + "calib.npz", "--device", "cpu", "--export", "pt2-reference",
                       "--out", out});
        QVERIFY(process.waitForFinished(120000));
        QCOMPARE(process.exitCode(), 0);
        const QString file = m_folder.filePath("theirs.pt2");
        QVERIFY(QFile::copy(out + "/model.reference.pt2", file));
        const QSignalSpy told(&runs(), &RunLibrary::told);
        runs().addFile(file); // taken back while it waits or works: nothing is kept
        m_window->actions()[ActionId::Cancel].trigger();
        QTRY_COMPARE(told.size(), 2);
        QVERIFY(told.back().front().toString().startsWith("Cancelled"));
        QVERIFY(!names().contains("theirs"));
        runs().addFile(file);
        settle();
        QTRY_VERIFY(names().contains("theirs"));
        const RunEntry run = *runs().tryRun(item("theirs")->data(0, Qt::UserRole).toString());
        QCOMPARE(runs().standing(run), QString("another program"));
        // On the samples of the runs beside it; `tst_ui_same_measure` holds the number.
        QCOMPARE(run.headline.samples, document().comparison()->samples);
        QVERIFY(run.headline.outputDb().has_value());
        runs().putSideBySide({item("x86")->data(0, Qt::UserRole).toString(),
                              item("theirs")->data(0, Qt::UserRole).toString()});
        QTRY_VERIFY(runs().table());
        QVERIFY(find<QTextEdit>("runsRecipes")->toPlainText().contains("another program"));
        QVERIFY(runs().showNext() && runs().showNext());
        QCOMPARE(workspace().shownRun()->letter, QString("B"));
        runs().showCurrent();
    }

    /// By keyboard: the current result gets a new name instead of the one it was kept under.
    void theCurrentResultIsKeptByName()
    {
        m_window->activateWindow();
        QTRY_VERIFY(m_window->isActiveWindow());
        pane().view().setFocus();
        Recipe recipe = document().recipe();
        recipe.mapping.rules.push_back({RuleKind::ModuleName, "head", "", 0, {}});
        workspace().change("head", recipe);
        settle();
        compareAgain();
        QTRY_VERIFY(names().contains("head float"));
        const int count = int(names().size());
        answer("the head in float");
        key(&pane().view(), Qt::Key_R, Qt::ControlModifier | Qt::AltModifier);
        QTRY_VERIFY(names().contains("the head in float"));
        QCOMPARE(int(names().size()), count);
        QVERIFY(!names().contains("head float"));
    }

    void aDamagedRunSaysWhy()
    {
        const QString folder = item("the head in float")->data(0, Qt::UserRole).toString();
        QFile recipe(folder + "/recipe.json");
        QVERIFY(recipe.open(QIODevice::WriteOnly) && recipe.write("{") == 1);
        recipe.close();
        runs().reload();
        QVERIFY(item("the head in float")->text(6).contains("recipe.json"));
        QCOMPARE(item("the head in float")->text(7), QString("damaged"));
        item("the head in float")->setSelected(true);
        item("x86")->setSelected(true);
        QVERIFY(!runs().table()); // it stands beside nothing
        runs().remove(folder);
        runs().reload();
        QCOMPARE(int(names().size()), 3);
    }

    void isShownAsExpected()
    {
        list().clearSelection();
        for (const char* name : {"x86", "stem in float"})
            item(name)->setSelected(true);
        QTRY_VERIFY(runs().table());
        runs().showNext();
        QVERIFY(rows() > 15);
        picture("runs.png");
        runs().showCurrent();
    }

    void deletingAsksAndProjectsKeepThem()
    {
        list().clearSelection();
        list().setCurrentItem(item("theirs"));
        for (const auto button : {QMessageBox::Cancel, QMessageBox::Yes}) {
            test::atDialog<QMessageBox>(
                *this, [button](QMessageBox& box) { box.button(button)->click(); });
            key(&list(), Qt::Key_Delete);
            QCOMPARE(names().contains("theirs"), button == QMessageBox::Cancel);
        }
        const QStringList before = names();
        QVERIFY(m_window->projects().saveTo(m_project));
        settle();
        m_window->openModel(test::kSamples + "digits.pt2");
        settle();
        QTRY_VERIFY(names().isEmpty());
        m_window->openModel(m_project);
        settle();
        QTRY_COMPARE(names(), before);
    }
};

int main(int argc, char** argv)
{
    QApplication app(argc, argv);
    applyTheme(app, qEnvironmentVariableIsSet("QS_DARK"));
    TestRuns test;
    return QTest::qExec(&test, argc, argv);
}
#include "tst_ui_runs.moc"
