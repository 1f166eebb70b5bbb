// SPDX-License-Identifier: GPL-3.0-or-later
// What the window says about decisions, and what it offers to do about them.
#include "engine/configure/backend/settings.h"
#include "engine/graph/text/node_titles.h"
#include "tests/support/fake_engine.h"
#include "ui/frame/actions.h"
#include "ui/frame/message_bar.h"
#include "ui/graph/view/graph_pane.h"
#include "ui/panels/findings_panel.h"
#include "ui/panels/module_panel.h"
#include "ui/panels/verdict_list.h"
#include "ui/shell/advice.h"
#include "ui/shell/autosave.h"
#include "ui/shell/dialogs/lowering_dialog.h"
#include "ui/shell/main_window.h"

#include <QAction>
#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QPushButton>
#include <QStandardPaths>
#include <QTableWidget>
#include <QTemporaryDir>
#include <QTimer>
#include <QTreeView>
#include <QtTest>

using namespace qs;

class TestUiVerdicts : public QObject
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { QStandardPaths::setTestModeEnabled(true); }
    void init()
    {
        m_engine = std::make_unique<FakeEngine>();
        m_window = std::make_unique<MainWindow>(*m_engine);
        m_window->show();
        m_window->openModel(QStringLiteral("net.pt2"));
        QTRY_VERIFY(document().plan());
        QTRY_VERIFY(m_window->graphPane().isLayoutDone());
    }
    void cleanup()
    {
        m_window->autosave().forget(); // else the next window offers what this one decided
        m_window.reset();
    }

    void badgesStandBeforeCalibration()
    {
        keepFloat("linear");
        QCOMPARE(badge("linear"), QStringLiteral("float"));
        QCOMPARE(badge("relu"), QStringLiteral("int8"));
        QVERIFY(!document().calibration());
    }

    void whyCardAppliesTheSuggestion()
    {
        keepFloat("linear");
        workspace().selectNode(node("linear"));
        QTRY_VERIFY(m_window->findChild<QPushButton*>("applyRemedy"));
        QVERIFY(find<QLabel>("whyCandidate")->text().contains(QStringLiteral("eps 1 < 2")));
        QVERIFY(find<QLabel>("whyRemedy")->text().contains(QStringLiteral("'fake'")));
        QTest::mouseClick(find<QPushButton>("applyRemedy"), Qt::LeftButton);
        QTRY_COMPARE(m_window->verdictList().count(Verdict::FloatByRule), 0);
        QVERIFY(workspace().undoStack().undoText().contains(QStringLiteral("linear")));
        m_window->actions()[ActionId::Undo].trigger();
        QTRY_COMPARE(m_window->verdictList().count(Verdict::FloatByRule), 1);
    }

    void verdictFiltersTreeAndGraph()
    {
        keepFloat("linear");
        auto& list = m_window->verdictList();
        QTest::mouseClick(&list, Qt::LeftButton, {}, list.rowRect(Verdict::FloatByRule).center());
        QCOMPARE(workspace().verdictFilter(), std::optional(Verdict::FloatByRule));
        QVERIFY(workspace().selection().contains(node("linear")));
        QVERIFY(isRowHidden(QStringLiteral("block")));
        QVERIFY(!isRowHidden(QStringLiteral("fc")));
        QVERIFY(nodeStyle("relu").behind);
        QVERIFY(!nodeStyle("linear").behind);
        // Once more, and by key: all is back.
        QTest::mouseClick(&list, Qt::LeftButton, {}, list.rowRect(Verdict::FloatByRule).center());
        QVERIFY(!workspace().verdictFilter());
        QVERIFY(!isRowHidden(QStringLiteral("block")));
        QVERIFY(!nodeStyle("relu").behind);
        QTest::keyClick(&list, Qt::Key_Down);
        QCOMPARE(workspace().verdictFilter(), std::optional(Verdict::Quantized));
        // A filter that nothing passes any more goes.
        workspace().setVerdictFilter(Verdict::FloatByRule);
        m_window->actions()[ActionId::Undo].trigger();
        QTRY_VERIFY(!workspace().verdictFilter());
    }

    void conflictInAFusionIsOffered_data()
    {
        QTest::addColumn<QString>("button");
        QTest::addColumn<int>("floats");
        QTest::newRow("unfuse") << "messageChoice0" << 1;
        QTest::newRow("apply to both") << "messageChoice1" << 3;
    }
    void conflictInAFusionIsOffered()
    {
        QFETCH(QString, button);
        QFETCH(int, floats);
        // The scope box offers the members of the fusion one by one.
        workspace().selectNode(node("conv2d"));
        auto* scope = find<QComboBox>("scopeBox");
        const QString only = QStringLiteral("only ")
            + QString::fromStdString(nodeTitle(*document().model(), node("relu")));
        QTRY_VERIFY(scope->findText(only) >= 0);
        scope->setCurrentIndex(scope->findText(only));
        Q_EMIT scope->activated(scope->currentIndex());
        auto* qconfig = find<QComboBox>("qconfigBox");
        qconfig->setCurrentIndex(qconfig->findText(QStringLiteral("float")));
        Q_EMIT qconfig->activated(qconfig->currentIndex());

        auto& bar = m_window->messageBar();
        QTRY_VERIFY(bar.isVisible());
        QVERIFY2(bar.headline().contains(QStringLiteral("relu")), qPrintable(bar.headline()));
        QVERIFY2(bar.detail().contains(QStringLiteral("conv2d")), qPrintable(bar.detail()));
        QTest::mouseClick(bar.findChild<QPushButton*>(button), Qt::LeftButton);
        QTRY_VERIFY(document().plan()->conflicts.empty());
        QTRY_COMPARE(m_window->verdictList().count(Verdict::FloatByRule), floats);
        QVERIFY(!bar.isVisible());
        m_window->actions()[ActionId::Undo].trigger();
        QTRY_COMPARE(document().plan()->conflicts.size(), std::size_t(1));
    }

    void zeroCoverageShouts()
    {
        workspace().assign({RuleKind::Global, {""}}, std::string());
        auto& bar = m_window->messageBar();
        QTRY_VERIFY(bar.isVisible());
        QVERIFY2(bar.headline().contains(QStringLiteral("0 of 13")), qPrintable(bar.headline()));
        QVERIFY2(bar.detail().contains(QStringLiteral("a rule keeps it float")),
                 qPrintable(bar.detail()));
        m_window->actions()[ActionId::Undo].trigger();
        QTRY_VERIFY(!bar.isVisible());
    }

    void findingsListRulesAndResidue()
    {
        auto& findings = m_window->findings();
        QTRY_COMPARE(findings.count(), 0);
        workspace().assign({RuleKind::Node, {"missing"}}, std::string());
        QTRY_COMPARE(findings.count(), 1);
        QCOMPARE(findings.topLevelItem(0)->text(0), QStringLiteral("Rules that match nothing · 1"));
        workspace().pipeline().runUpTo(Stage::Convert);
        QTRY_COMPARE(findings.count(), 3);
        auto* row = findings.topLevelItem(1)->child(0);
        QCOMPARE(row->text(1), QStringLiteral("no row for linear"));
        // A click on the status bar's warning opens the list; a click on a row selects its node.
        QTest::mouseClick(find<QLabel>("statusWarnings"), Qt::LeftButton);
        QTRY_VERIFY(findings.isVisible());
        findings.scrollToItem(row);
        QTest::mouseClick(findings.viewport(), Qt::LeftButton, {},
                          findings.visualItemRect(row).center());
        QVERIFY(workspace().selection().contains(node("linear")));
    }

    void backendIsChosenAndItsEffectTold()
    {
        QCOMPARE(changedVerdicts(*document().plan(), *document().plan()), 0);
        QTimer::singleShot(0, this, [this] {
            QMenu* menu = nullptr;
            QTRY_VERIFY((menu = m_window->findChild<QMenu*>("backendMenu")));
            for (auto* action : menu->actions())
                if (action->text().section(u'\t', 0, 0) == QLatin1String("qnnpack"))
                    action->trigger();
            menu->close();
        });
        m_window->actions()[ActionId::Backend].trigger();
        auto& bar = m_window->messageBar();
        QTRY_VERIFY(bar.isVisible());
        QCOMPARE(bar.headline(),
                 QStringLiteral("Backend qnnpack instead of x86: 0 of 13 operators change "
                                "verdict"));
        QCOMPARE(document().recipe().mapping.rules.front().qconfig.name, std::string("qnnpack"));
        m_window->actions()[ActionId::Undo].trigger();
        QCOMPARE(document().recipe(), defaultRecipe());
    }

    /// The backend of a recipe that names none is shown as not chosen; the menu makes it an error.
    void aTargetMayBeRequired()
    {
        const auto fromMenu = [this](const QString& name) {
            QTimer::singleShot(0, this, [this, name] {
                QMenu* menu = nullptr;
                QTRY_VERIFY((menu = m_window->findChild<QMenu*>("backendMenu")));
                for (auto* action : menu->actions())
                    if (action->objectName() == name || action->text().section(u'\t', 0, 0) == name)
                        action->trigger();
                menu->close();
            });
            m_window->actions()[ActionId::Backend].trigger();
        };
        const QTemporaryDir own; // other programs read the settings that tests share
        const QByteArray shared = qgetenv("XDG_CONFIG_HOME");
        qputenv("XDG_CONFIG_HOME", own.path().toLocal8Bit());
        const auto back = qScopeGuard([&] { qputenv("XDG_CONFIG_HOME", shared); });
        QVERIFY(!document().recipe().namesTarget());
        QCOMPARE(workspace().pipeline().status(Stage::Backend).text,
                 QStringLiteral("x86, not chosen"));
        fromMenu(QStringLiteral("requireTarget"));
        QVERIFY(readSettings()->requiresTarget);
        fromMenu(QStringLiteral("requireTarget"));
        QVERIFY(!readSettings()->requiresTarget);
        fromMenu(QStringLiteral("x86"));
        QVERIFY(document().recipe().namesTarget());
        QTRY_COMPARE(workspace().pipeline().status(Stage::Backend).text, QStringLiteral("x86"));
        QCOMPARE(changedVerdicts(*document().plan(), *document().plan()), 0);
        m_window->actions()[ActionId::Undo].trigger();
        QCOMPARE(document().recipe(), defaultRecipe());
    }

    void loweringRowsComeAndGo()
    {
        LoweringDialog dialog(workspace(), m_window.get());
        dialog.show();
        auto* table = dialog.findChild<QTableWidget*>("loweringTable");
        auto* toggle = dialog.findChild<QPushButton*>("loweringToggle");
        const int all = table->rowCount();
        QVERIFY(all > 20);
        QTest::keyClicks(dialog.findChild<QLineEdit*>("loweringFilter"), QStringLiteral("linear"));
        QVERIFY(table->rowCount() > 1 && table->rowCount() < all);
        for (int row = 0; row < table->rowCount(); ++row)
            if (table->item(row, 0)->text() == QLatin1String("linear"))
                table->setCurrentCell(row, 0);
        QTest::mouseClick(toggle, Qt::LeftButton);
        QCOMPARE(document().recipe().loweringRemove, std::vector<LoweringRow>({{{"linear"}, {}}}));
        const auto left = kernelRows(document().recipe());
        QVERIFY(left);
        for (const KernelRow& row : *left)
            QVERIFY(row.pattern != std::vector<std::string> {"linear"});
        QCOMPARE(toggle->text(), QStringLiteral("Restore row"));
        QTest::mouseClick(toggle, Qt::LeftButton);
        QCOMPARE(document().recipe(), defaultRecipe());

        dialog.findChild<QLineEdit*>("loweringFilter")->clear();
        auto* pattern = dialog.findChild<QLineEdit*>("loweringPattern");
        auto* kernel = dialog.findChild<QComboBox*>("loweringKernel");
        auto* problem = dialog.findChild<QLabel*>("loweringProblem");
        QTest::keyClicks(pattern, QStringLiteral("conv2d, gelu"));
        QTest::keyClick(pattern, Qt::Key_Return);
        QVERIFY(problem->isVisible());
        QVERIFY(dialog.isVisible());
        kernel->setCurrentText(QStringLiteral("my::conv2d_gelu"));
        QTest::mouseClick(dialog.findChild<QPushButton*>("loweringAdd"), Qt::LeftButton);
        QVERIFY(!problem->isVisible());
        QCOMPARE(table->rowCount(), all + 1);
        QCOMPARE(document().recipe().loweringAdd,
                 std::vector<LoweringRow>({{{"conv2d", "gelu"}, "my::conv2d_gelu"}}));
        table->setCurrentCell(0, 0);
        QTest::mouseClick(toggle, Qt::LeftButton);
        QCOMPARE(document().recipe(), defaultRecipe());
        m_window->actions()[ActionId::Undo].trigger();
        QCOMPARE(document().recipe().loweringAdd.size(), std::size_t(1));
    }

private:
    Workspace& workspace() { return m_window->workspace(); }
    Document& document() { return workspace().document(); }
    NodeId node(const char* name) { return document().model()->tryFind(name)->id; }
    template<class T>
    T* find(const char* name)
    {
        return m_window->findChild<T*>(QString::fromLatin1(name));
    }
    void keepFloat(const char* name)
    {
        workspace().assign({RuleKind::Node, {name}}, std::string());
        QTRY_COMPARE(m_window->verdictList().count(Verdict::FloatByRule), 1);
    }
    int drawn(const char* name)
    {
        const auto& scene = m_window->graphPane().view().graphScene();
        return scene.drawing()->nodeShowing(workspace().foldTree()->unitOf(node(name)));
    }
    const GraphStyle& style() { return m_window->graphPane().view().graphScene().canvas().style(); }
    NodeStyle nodeStyle(const char* name) { return style().nodes[std::size_t(drawn(name))]; }
    QString badge(const char* name) { return style().text(drawn(name)).badge; }
    bool isRowHidden(const QString& start)
    {
        auto& tree = m_window->modulePanel().tree();
        const auto root = tree.model()->index(0, 0);
        for (int row = 0; row < tree.model()->rowCount(root); ++row)
            if (tree.model()->index(row, 0, root).data().toString().startsWith(start))
                return tree.isRowHidden(row, root);
        return true;
    }

    std::unique_ptr<FakeEngine> m_engine;
    std::unique_ptr<MainWindow> m_window;
};

QTEST_MAIN(TestUiVerdicts)
#include "tst_ui_verdicts.moc"
