// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/ui/keys_window.h"
#include "ui/frame/actions.h"
#include "ui/frame/message_bar.h"
#include "ui/graph/view/graph_pane.h"
#include "ui/help/help_window.h"
#include "ui/models/palette_model.h"
#include "ui/panels/guide_panel.h"
#include "ui/panels/property_panel.h"
#include "ui/panels/verdict_list.h"
#include "ui/session/search/fuzzy_match.h"
#include "ui/shell/actions/command_palette.h"
#include "ui/shell/actions/commands.h"
#include "ui/shell/bars/pipeline_bar.h"
#include "ui/shell/bars/stage_button.h"
#include "ui/shell/main_window.h"

#include <QAbstractItemModelTester>
#include <QAccessible>
#include <QDialog>
#include <QDialogButtonBox>
#include <QLabel>
#include <QLineEdit>
#include <QListView>
#include <QPushButton>
#include <QSettings>
#include <QStandardPaths>
#include <QTextBrowser>
#include <QToolButton>
#include <QtTest>

using namespace qs;

/// Commands by name, help by place, first steps, and the whole job by keyboard.
class TestPalette : public test::KeysWindow
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { QStandardPaths::setTestModeEnabled(true); }
    void init() { start(); }
    void cleanup() { m_window.reset(); }
    void fuzzyMatchPrefersBeginnings();
    void modelIsCleanAndRanks();
    void everyActionIsInThePalette();
    void paletteRunsAnAction();
    void paletteLeavesTheFocusWhereItWas();
    void assignsByAFewLetters();
    void wholeJobByKeyboard();
    void everyKeyIsListed();
    void firstStepsTickThemselvesOff();
    void everyWidgetForTheKeyboardHasAName();
};

void TestPalette::fuzzyMatchPrefersBeginnings()
{
    const auto score = [](const char* pattern, const char* text) {
        return fuzzyScore(QString::fromLatin1(pattern), QString::fromLatin1(text));
    };
    QCOMPARE(score("xyz", "Run: Calibrate"), 0);
    QVERIFY(score("", "anything") > 0);
    QVERIFY(score("cal", "Run: Calibrate") > score("cal", "Vertical lines"));
    QVERIFY(score("cal", "Vertical lines") > score("cal", "Change a label"));
    QVERIFY(score("rc", "Run: Calibrate") > 0);
    QVERIFY(score("run cal", "Run: Calibrate") > score("run cal", "Run: Convert all"));
    QCOMPARE(score("run xyz", "Run: Calibrate"), 0);
}

void TestPalette::modelIsCleanAndRanks()
{
    PaletteModel model;
    QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::QtTest);
    model.setItems({{QStringLiteral("File: Open"), QStringLiteral("Read a model"), {}, true, {}},
                    {QStringLiteral("Run: Compare"), {}, QStringLiteral("Ctrl+M"), false, {}},
                    {QStringLiteral("Run: Convert"), {}, {}, true, {}}});
    QCOMPARE(model.rowCount(), 3);
    QCOMPARE(model.item(0).text, QStringLiteral("File: Open"));
    model.setPattern(QStringLiteral("co"));
    // What cannot be done now comes last, though it fits as well.
    QCOMPARE(model.item(0).text, QStringLiteral("Run: Convert"));
    QCOMPARE(model.item(model.rowCount() - 1).text, QStringLiteral("Run: Compare"));
    QVERIFY(!(model.flags(model.index(model.rowCount() - 1)) & Qt::ItemIsEnabled));
    // The sentence counts too.
    model.setPattern(QStringLiteral("read"));
    QCOMPARE(model.rowCount(), 1);
    model.setPattern(QStringLiteral("nothing of that"));
    QCOMPARE(model.rowCount(), 0);
}

void TestPalette::everyActionIsInThePalette()
{
    openModel();
    m_window->actions()[ActionId::Palette].trigger();
    auto* palette = find<CommandPalette>("commandPalette");
    QVERIFY(palette->isVisible());
    QStringList texts;
    for (int row = 0; row < palette->model().rowCount(); ++row)
        texts << palette->model().item(row).text;
    for (auto* action : m_window->actions().all()) {
        QVERIFY(!Actions::menuOf(*action).isEmpty());
        const QString text = QStringLiteral("%1: %2").arg(Actions::menuOf(*action),
                                                          action->text().remove(QLatin1Char('&')));
        if (action->objectName() != QLatin1String("palette"))
            QVERIFY2(texts.contains(text), qPrintable(text));
    }
    QVERIFY(texts.contains(QStringLiteral("Backend: qnnpack")));
    QVERIFY(texts.contains(QStringLiteral("Help: Observer")));
}

void TestPalette::paletteRunsAnAction()
{
    openModel();
    press(Qt::Key_P, Qt::ControlModifier | Qt::ShiftModifier);
    auto* palette = find<CommandPalette>("commandPalette");
    QVERIFY(palette->isVisible());
    type("backend qnnp");
    QCOMPARE(palette->model().item(0).text, QStringLiteral("Backend: qnnpack"));
    press(Qt::Key_Return);
    QVERIFY(!palette->isVisible());
    QCOMPARE(workspace().document().recipe().backend, std::string("qnnpack"));
    // What needs a model cannot be chosen without one.
    m_window = std::make_unique<MainWindow>(m_engine);
    m_window->show();
    QVERIFY(QTest::qWaitForWindowActive(m_window.get()));
    m_window->actions()[ActionId::Palette].trigger();
    palette = find<CommandPalette>("commandPalette");
    type("compare");
    press(Qt::Key_Return);
    QVERIFY(palette->isVisible() || find<HelpWindow>("helpWindow"));
}

void TestPalette::paletteLeavesTheFocusWhereItWas()
{
    openModel();
    m_window->graphPane().view().setFocus();
    press(Qt::Key_P, Qt::ControlModifier | Qt::ShiftModifier);
    auto* palette = find<CommandPalette>("commandPalette");
    QVERIFY(!m_window->graphPane().view().hasFocus());
    const auto selected = workspace().selection().nodes();
    press(Qt::Key_Escape);
    QVERIFY(!palette->isVisible());
    QVERIFY(m_window->graphPane().view().hasFocus());
    QCOMPARE(workspace().selection().nodes(), selected);
}

void TestPalette::assignsByAFewLetters()
{
    openModel();
    workspace().selectNode(node("add"));
    m_window->graphPane().view().setFocus();
    press(Qt::Key_A);
    auto* palette = find<CommandPalette>("commandPalette");
    QVERIFY(palette->isVisible());
    type("module block float");
    QCOMPARE(palette->model().item(0).text, QStringLiteral("module block → float"));
    press(Qt::Key_Return);
    QTRY_COMPARE(m_window->verdictList().count(Verdict::FloatByRule), 7);
    QCOMPARE(workspace().undoStack().undoText(), QStringLiteral("set module block to float"));
    press(Qt::Key_Z, Qt::ControlModifier);
    QTRY_COMPARE(m_window->verdictList().count(Verdict::FloatByRule), 0);
    // Without a selection it says what to do.
    workspace().selection().clear();
    press(Qt::Key_A);
    QVERIFY(!palette->isVisible());
    QVERIFY(m_window->messageBar().isVisible());
}

/// Open to export with nothing but keys; dialogs are answered by keys too.
void TestPalette::wholeJobByKeyboard()
{
    openModel(); // a file dialog is the system's
    auto& document = workspace().document();
    const auto answer = [](Qt::Key key) {
        QTimer::singleShot(0, qApp, [key] {
            auto* dialog = qobject_cast<QDialog*>(QApplication::activeModalWidget());
            QVERIFY(dialog);
            QTest::keyClick(dialog->focusWidget() ? dialog->focusWidget() : dialog, key);
        });
    };
    answer(Qt::Key_Return);
    press(Qt::Key_B, Qt::ControlModifier);
    QTRY_VERIFY(document.calibration() && settled());
    press(Qt::Key_T, Qt::ControlModifier);
    QTRY_VERIFY(document.converted() && settled());
    press(Qt::Key_M, Qt::ControlModifier);
    QTRY_VERIFY(document.comparison() && settled());
    // The worst node is selected; the one before it in badness, found by name, goes to float.
    QVERIFY(workspace().selection().contains(node("linear")));
    press(Qt::Key_N);
    press(Qt::Key_F, Qt::ControlModifier);
    type("op:linear");
    press(Qt::Key_Return);
    press(Qt::Key_Escape);
    QVERIFY(workspace().selection().contains(node("linear")));
    press(Qt::Key_Q);
    QTRY_COMPARE(m_window->verdictList().count(Verdict::FloatByRule), 1);
    QVERIFY(document.isStale(Stage::Compare));
    press(Qt::Key_R, Qt::ControlModifier);
    QTRY_VERIFY(settled() && !document.isStale(Stage::Compare));
    answer(Qt::Key_Return);
    press(Qt::Key_E, Qt::ControlModifier);
    QTRY_VERIFY(!document.exported().files.empty());
}

void TestPalette::everyKeyIsListed()
{
    m_window->actions()[ActionId::Keys].trigger();
    auto* text = find<QTextBrowser>("keysText");
    QVERIFY(text && text->isVisible());
    for (const auto* action : m_window->actions().all())
        QVERIFY2(text->toPlainText().contains(action->toolTip()), qPrintable(action->toolTip()));
    QTest::keyClick(text, Qt::Key_Escape);
    QTRY_VERIFY(!find<QDialog>("keysDialog"));
}

void TestPalette::firstStepsTickThemselvesOff()
{
    auto* guide = find<GuidePanel>("guidePanel");
    QVERIFY(guide);
    openModel();
    QVERIFY(guide->isVisible());
    QTRY_COMPARE(guide->doneCount(), 1);
    m_window->commands().runAll();
    QTRY_COMPARE(guide->doneCount(), 3);
    QTest::mouseClick(find<QWidget>("guide_assign"), Qt::LeftButton);
    QVERIFY(find<CommandPalette>("commandPalette")->isVisible());
    type("this float");
    press(Qt::Key_Return);
    QTRY_COMPARE(guide->doneCount(), 4);
    QVERIFY(guide->isVisible());
    // A target that is taken because none was named is not a choice.
    workspace().chooseBackend("x86");
    QTRY_COMPARE(guide->doneCount(), 5);
    // With the last step it goes, and stays away until it is called.
    m_window->commands().runAll();
    QTRY_VERIFY(!workspace().pipeline().isBusy());
    workspace().pipeline().exportTo({QStringLiteral("/tmp/out"), {"torchscript"}});
    QTRY_COMPARE(guide->doneCount(), 6);
    QTRY_VERIFY(!guide->isVisible());
    m_window = std::make_unique<MainWindow>(m_engine);
    m_window->show();
    openModel();
    QVERIFY(!find<GuidePanel>("guidePanel")->isVisible());
    m_window->actions()[ActionId::Guide].trigger();
    QVERIFY(find<GuidePanel>("guidePanel")->isVisible());
    QTest::mouseClick(find<QToolButton>("guideClose"), Qt::LeftButton);
    QVERIFY(!find<GuidePanel>("guidePanel")->isVisible());
}

void TestPalette::everyWidgetForTheKeyboardHasAName()
{
    openModel();
    QStringList silent;
    for (auto* widget : m_window->findChildren<QWidget*>()) {
        if (!widget->isVisible() || !(widget->focusPolicy() & Qt::TabFocus)
            || widget->objectName().startsWith(QLatin1String("qt_")))
            continue;
        QAccessibleInterface* face = QAccessible::queryAccessibleInterface(widget);
        const QString spoken = face ? face->text(QAccessible::Name) : QString();
        if (spoken.isEmpty() && !widget->focusProxy())
            silent << QStringLiteral("%1 %2").arg(
                QString::fromLatin1(widget->metaObject()->className()), widget->objectName());
    }
    QVERIFY2(silent.isEmpty(), qPrintable(silent.join(QStringLiteral("; "))));
}

QTEST_MAIN(TestPalette)
#include "tst_ui_palette.moc"
