// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/ui/runs_window.h"
#include "ui/runs/run_table_model.h"

#include <QMenu>
#include <QMessageBox>
#include <QPushButton>
#include <QScrollBar>
#include <QToolButton>

using namespace qs;

/// Two runs side by side in panels of many widths, and while they are read.
class TestRunColumns : public test::RunsWindow
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase()
    {
        openAndCompare();
        QTest::qWait(1100); // runs are named by the second
        workspace().assign({RuleKind::ModuleName, {"stem.conv"}}, "");
        settle();
        compareAgain();
        QTRY_COMPARE(names(), QStringList({"stem.conv float", "x86"}));
        m_window->showTab("runsPanel");
        QTRY_VERIFY(list().isVisible());
    }
    void cleanupTestCase() { m_window.reset(); }

    /// Whatever the panel's width: no list scrolls sideways, and what loses most stays in sight.
    void columnsFitThePanel()
    {
        list().selectAll();
        QTRY_VERIFY(runs().table());
        const QSize before = m_window->size();
        for (const int width : {1600, 1280, 1100}) {
            m_window->resize(width, before.height());
            QCoreApplication::processEvents();
            for (auto* view : {static_cast<QAbstractItemView*>(&list()),
                               static_cast<QAbstractItemView*>(&table())})
                QTRY_VERIFY2(view->horizontalScrollBar()->maximum() == 0,
                             qPrintable(QStringLiteral("%1, %2 wide, in a window of %3")
                                            .arg(view->objectName())
                                            .arg(view->viewport()->width())
                                            .arg(width)));
            QVERIFY(!table().isColumnHidden(column("node")));
            QVERIFY(!table().isColumnHidden(column("B − A cumulative dB")));
            QVERIFY(!list().isColumnHidden(1) && !list().isColumnHidden(3));
        }
        m_window->resize(before);
    }

    void nodesAreModulePaths()
    {
        const RecordedTitles titles(graph());
        for (int row = 0; row < rows(); ++row) {
            const QModelIndex cell = table().model()->index(row, column("node"));
            const QString name = cell.data(RunTableModel::kNameRole).toString();
            QCOMPARE(cell.data().toString().toStdString(), titles.of(name.toStdString()));
        }
        QVERIFY(rows() > 15);
    }

    /// Reading the runs is said until they are there.
    void readingIsSaid()
    {
        const QString a = item("x86")->data(0, Qt::UserRole).toString();
        const QString b = item("stem.conv float")->data(0, Qt::UserRole).toString();
        runs().putSideBySide({});
        QStringList notes;
        connect(&runs(), &RunLibrary::readingChanged, this, [&] { notes << label("runsNote"); });
        runs().putSideBySide({a, b});
        QVERIFY(runs().readShare());
        QVERIFY2(label("runsNote").startsWith("Reading the runs … 0 %"),
                 qPrintable(label("runsNote")));
        QTRY_VERIFY(runs().table());
        QVERIFY(!runs().readShare());
        QVERIFY(!label("runsNote").contains("Reading"));
        disconnect(&runs(), &RunLibrary::readingChanged, this, nullptr);
        QVERIFY(!notes.isEmpty());
    }

    /// On a small screen: no button is cut, those without room are in a menu; without a comparison
    /// a sentence stands in its place.
    void nothingIsCutOnASmallScreen()
    {
        list().selectAll();
        list().setCurrentItem(item("x86"), 0, QItemSelectionModel::NoUpdate);
        QTRY_VERIFY(runs().table());
        picture("runs-side-by-side-1366.png", {1366, 768});
        auto* row = find<QPushButton>("runsKeep")->parentWidget();
        int shown = 0;
        for (const auto* button : row->findChildren<QPushButton*>())
            if (button->isVisible()) {
                ++shown;
                QVERIFY2(row->rect().contains(button->geometry())
                             && button->width() >= button->sizeHint().width(),
                         qPrintable(button->text()));
            }
        auto* more = find<QToolButton>("runsMore");
        QVERIFY(more->isVisible() && shown > 0 && row->rect().contains(more->geometry()));
        QStringList listed;
        Q_EMIT more->menu()->aboutToShow();
        for (QAction* action : more->menu()->actions()) {
            listed << action->text();
            if (action->text() == QLatin1String("Delete…")) {
                test::atDialog<QMessageBox>(
                    *this, [](QMessageBox& box) { box.button(QMessageBox::Cancel)->click(); });
                QVERIFY(action->isEnabled());
                action->trigger();
            }
        }
        QCOMPARE(int(listed.size()), 6 - shown);
        QVERIFY2(listed.contains(QStringLiteral("Delete…")), qPrintable(listed.join(' ')));
        list().clearSelection();
        auto* empty = find<QLabel>("runsEmpty");
        QTRY_VERIFY(empty->isVisible() && !find<QWidget>("runsTable")->isVisible()
                    && !find<QWidget>("runsRecipes")->isVisible());
        QVERIFY2(empty->height() >= empty->heightForWidth(empty->width()),
                 qPrintable(empty->text()));
        picture("runs-none-1366.png", {1366, 768});
        m_window->resize(1600, 1000);
    }
};

QTEST_MAIN(TestRunColumns)
#include "tst_ui_run_columns.moc"
