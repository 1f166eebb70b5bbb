// SPDX-License-Identifier: GPL-3.0-or-later
// What the export helper recorded, in the window's list of findings.
#include "engine/graph/graph_edit.h"
#include "tests/support/fake_engine.h"
#include "ui/panels/findings_panel.h"
#include "ui/session/workspace.h"

#include <QFile>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QtTest>

using namespace qs;

class TestUiFindings : public QObject
{
    Q_OBJECT

private:
    QTemporaryDir m_folder;
    FakeEngine m_engine;
    std::unique_ptr<Workspace> m_workspace;
    std::unique_ptr<FindingsPanel> m_panel;

    void open(const QString& name)
    {
        GraphEdit edit(*m_engine.model);
        ModelInfo info = m_engine.model->info();
        info.path = m_folder.filePath(name).toStdString();
        info.sha256.clear();
        edit.setInfo(std::move(info));
        m_workspace->document().setModel(std::make_shared<const Graph>(edit.build()),
                                         defaultRecipe());
    }
    QTreeWidgetItem* section(const QString& title)
    {
        const auto found = m_panel->findItems(title, Qt::MatchStartsWith, 0);
        return found.isEmpty() ? nullptr : found.front();
    }
    void click(QTreeWidgetItem* item)
    {
        m_panel->scrollToItem(item);
        QTest::mouseClick(m_panel->viewport(), Qt::LeftButton, {},
                          m_panel->visualItemRect(item).center());
    }

private Q_SLOTS:
    void init()
    {
        QFile::copy(QS_SOURCE_DIR "/tests/support/trace_record.json",
                    m_folder.filePath("net.pt2.trace.json"));
        m_workspace = std::make_unique<Workspace>(m_engine);
        m_panel = std::make_unique<FindingsPanel>(*m_workspace);
        m_panel->resize(900, 500);
        m_panel->show();
    }
    void cleanup()
    {
        m_panel.reset();
        m_workspace.reset();
    }

    void recordIsListed()
    {
        open("net.pt2");
        QTRY_COMPARE(m_panel->count(), 8);
        QVERIFY(section("Export failures · 2"));
        QVERIFY(section("Decided by the example's values · 1"));
        QVERIFY(section("Code that the export did not run · 2"));
        QVERIFY(section("Leftovers in the exported model · 2"));
        QVERIFY(section("Places that tend to freeze or break · 1"));
        auto* row = section("Export failures")->child(0);
        QCOMPARE(row->text(0), QStringLiteral("block.relu1"));
        for (const int column : {0, 1}) // a narrow panel cuts them
            QCOMPARE(row->toolTip(column), row->text(column));
        QCOMPARE(
            row->text(1),
            QStringLiteral("net.py:12: if x.sum() > 0: · the branch depends on the values of a "
                           "tensor (strict, non-strict); use torch.where"));
        QCOMPARE(section("Export failures")->child(1)->text(0), QStringLiteral("(model)"));
    }

    void rowsSelectTheirModule()
    {
        open("net.pt2");
        QTRY_COMPARE(m_panel->count(), 8);
        QTRY_VERIFY(m_workspace->document().plan());
        QTRY_VERIFY(!m_workspace->pipeline().isBusy());
        QTest::qWait(20); // the list is made anew with the plan
        QSignalSpy reveal(m_panel.get(), &FindingsPanel::revealWanted);
        const auto& selection = m_workspace->selection();
        click(section("Code that the export did not run")->child(0));
        QVERIFY(selection.isModule());
        QCOMPARE(selection.modulePath(), QStringLiteral("block"));
        QCOMPARE(reveal.count(), 1);
        // A module that left nothing in the graph: the one around it.
        click(section("Code that the export did not run")->child(1));
        QCOMPARE(selection.modulePath(), QStringLiteral("block"));
        QCOMPARE(reveal.count(), 2);
        // A module that is fused with its neighbours: the node that they make.
        click(section("Export failures")->child(0));
        QVERIFY(!selection.isModule());
        QCOMPARE(selection.nodes().size(), std::size_t(3));
        QCOMPARE(m_engine.model->get(selection.nodes().back()).scope.path,
                 std::string("block.relu1"));
        // The model itself: all of it.
        click(section("Export failures")->child(1));
        QVERIFY(selection.isModule());
        QCOMPARE(selection.modulePath(), QString());
        QVERIFY(selection.nodes().size() > 10);
    }

    void anotherModelHasNone()
    {
        open("net.pt2");
        QTRY_COMPARE(m_panel->count(), 8);
        open("other.pt2");
        QTRY_COMPARE(m_panel->count(), 0);
    }
};

QTEST_MAIN(TestUiFindings)
#include "tst_ui_findings.moc"
