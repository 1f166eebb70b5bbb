// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/fake_engine.h"
#include "tests/ui/window_test.h"
#include "ui/frame/actions.h"
#include "ui/shell/actions/commands.h"
#include "ui/style/theme.h"
#include "ui/style/window_style.h"

#include <QAbstractButton>
#include <QAction>
#include <QApplication>
#include <QMenu>
#include <QScreen>
#include <QScrollArea>
#include <QScrollBar>
#include <QSettings>
#include <QSplitter>
#include <QStandardPaths>
#include <QTabBar>
#include <QTabWidget>
#include <QToolButton>
#include <QtTest>

using namespace qs;

/// The window on a small screen and with large text, its colours, and what may not cover what.
class TestSmallScreens : public test::WindowTest<FakeEngine>
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { QStandardPaths::setTestModeEnabled(true); }
    void init();
    void cleanup()
    {
        m_window.reset();
        applyStyle(*qApp, {});
    }
    void opensWithinItsScreen();
    void needsNoMoreThanASmallScreen_data();
    void needsNoMoreThanASmallScreen();
    void tabsBelowFitTheirRow_data();
    void tabsBelowFitTheirRow();
    void panelsCollapseByTheirButtons();
    void theLeftPanelScrolls();
    void nothingLiesOnTheGraph();
    void theMapCanBePutAway();
    void coloursAreChosenInTheMenu();
    void textSizeIsChosenInTheMenu();

private:
    void open()
    {
        m_window->openModel(QStringLiteral("/models/net.pt2"));
        QTRY_VERIFY(settled());
    }
    QAction* chosen(const char* name)
    {
        return m_window->actions().viewMenu().findChild<QAction*>(QString::fromLatin1(name));
    }
};

void TestSmallScreens::init()
{
    QSettings().clear();
    m_window = std::make_unique<MainWindow>(m_engine);
    m_window->show();
}

void TestSmallScreens::opensWithinItsScreen()
{
    QVERIFY(m_window->screen()->availableGeometry().size().width() < 1600);
    QCOMPARE(m_window->size().boundedTo(m_window->screen()->availableSize()), m_window->size());
}

void TestSmallScreens::needsNoMoreThanASmallScreen_data()
{
    QTest::addColumn<int>("percent");
    for (const int percent : {100, 150, 200})
        QTest::addRow("%d", percent) << percent;
}

void TestSmallScreens::needsNoMoreThanASmallScreen()
{
    QFETCH(int, percent);
    applyStyle(*qApp, {WindowStyle::Colours::Light, percent});
    m_window = std::make_unique<MainWindow>(m_engine);
    m_window->resize(1280, 720);
    m_window->show();
    open();
    m_window->commands().runAll();
    QTRY_VERIFY(workspace().document().comparison() && settled());
    QString sizes;
    for (auto* widget : m_window->findChildren<QWidget*>())
        if (widget->minimumSizeHint().width() > 380 || widget->minimumSizeHint().height() > 300)
            sizes += QStringLiteral("%1 '%2' %3x%4\n")
                         .arg(QString::fromLatin1(widget->metaObject()->className()),
                              widget->objectName())
                         .arg(widget->minimumSizeHint().width())
                         .arg(widget->minimumSizeHint().height());
    QVERIFY2(m_window->minimumSizeHint().boundedTo({1280, 720}) == m_window->minimumSizeHint(),
             qPrintable(sizes));
    QTRY_COMPARE(m_window->size(), QSize(1280, 720));
    // The graph and what stands beside it have room to be of use.
    QVERIFY2(
        pane().view().width() >= 280 && pane().view().height() >= 100,
        qPrintable(QStringLiteral("%1x%2").arg(pane().view().width()).arg(pane().view().height())));
    QVERIFY(find<QWidget>("moduleTree")->height() >= px(100));
}

void TestSmallScreens::tabsBelowFitTheirRow_data()
{
    QTest::addColumn<int>("percent");
    for (const int percent : {100, 150})
        QTest::addRow("%d", percent) << percent;
}

void TestSmallScreens::tabsBelowFitTheirRow()
{
    QFETCH(int, percent);
    applyStyle(*qApp, {WindowStyle::Colours::Light, percent});
    m_window = std::make_unique<MainWindow>(m_engine);
    m_window->resize(1280, 720);
    m_window->show();
    open();
    workspace().assign({RuleKind::Node, {"nothing_like_this"}}, std::string()); // a finding
    QTRY_VERIFY(settled());
    auto& tabs = m_window->bottomTabs();
    auto& bar = *tabs.tabBar();
    std::set<QString> texts;
    for (int page = 0; page < tabs.count(); ++page) {
        tabs.setCurrentIndex(page);
        QCOMPARE(tabs.currentIndex(), page);
        QVERIFY(bar.isTabVisible(page));
        int shown = 0;
        for (int i = 0; i < bar.count(); ++i)
            if (bar.isTabVisible(i)) {
                texts.insert(bar.tabText(i));
                ++shown;
                // Words are never shortened; in large letters arrows lead to those beyond the row.
                const int words = QFontMetrics(bar.font()).horizontalAdvance(bar.tabText(i));
                QVERIFY2(bar.tabRect(i).width() >= words, qPrintable(bar.tabText(i)));
                if (percent == 100 || i == page)
                    QVERIFY2(bar.rect().contains(bar.tabRect(i)), qPrintable(bar.tabText(i)));
            }
        QVERIFY2(shown <= 8, qPrintable(QString::number(shown)));
        for (const auto* arrow : bar.findChildren<QToolButton*>())
            QVERIFY(percent > 100 || !arrow->isVisible());
    }
    for (const char* text : {"Plots", "Loss ›", "Cure ›", "Values ›", "Model ›", "Recipe (1) ›",
                             "Findings (1)", "History ›"})
        QVERIFY2(texts.count(QString::fromUtf8(text)), text);
    // A group leads to the page of it that was shown last.
    m_window->actions()[ActionId::ShowFindings].trigger();
    QWidget* const findings = tabs.currentWidget();
    m_window->actions()[ActionId::ShowRuns].trigger();
    QVERIFY(tabs.currentWidget() != findings);
    QTest::mouseClick(&bar, Qt::LeftButton, {}, bar.tabRect(tabs.indexOf(findings)).center());
    QCOMPARE(tabs.currentWidget(), findings);
}

void TestSmallScreens::panelsCollapseByTheirButtons()
{
    open();
    const std::pair<const char*, const char*> panels[]
        = {{"toggle_showModules", "moduleTree"},
           {"toggle_showProperties", "propertyTitle"},
           {"toggle_showBottom", "bottomTabs"}};
    for (const auto& [button, panel] : panels) {
        QVERIFY2(find<QWidget>(button), button);
        QTest::mouseClick(find<QWidget>(button), Qt::LeftButton);
        QVERIFY2(!find<QWidget>(panel)->isVisible(), panel);
        QTest::keyClick(find<QWidget>(button), Qt::Key_Space);
        QVERIFY2(find<QWidget>(panel)->isVisible(), panel);
    }
}

void TestSmallScreens::theLeftPanelScrolls()
{
    open();
    m_window->resize(1280, 1000);
    auto* scroll = find<QScrollArea>("leftScroll");
    QTRY_COMPARE(scroll->verticalScrollBar()->maximum(), 0);
    m_window->resize(1280, 440);
    QTRY_VERIFY(scroll->verticalScrollBar()->maximum() > 0);
    QVERIFY(find<QWidget>("moduleTree")->height() >= px(100));
    QVERIFY(scroll->widget()->width() <= scroll->viewport()->width());
}

void TestSmallScreens::nothingLiesOnTheGraph()
{
    m_window->resize(1280, 720);
    open();
    pane().expandAll();
    QTRY_VERIFY(settled());
    m_window->commands().runAll();
    QTRY_VERIFY(workspace().document().comparison() && settled());
    for (const bool split : {false, true}) {
        pane().setSplit(split);
        QTRY_VERIFY(settled());
        pane().view().setZoom(2);
        QTRY_VERIFY(find<QWidget>("minimap")->isVisible());
        for (auto* view : {&pane().view(), &pane().otherView()}) {
            if (!view->isVisible())
                continue;
            const QRect canvas(view->mapTo(&pane(), QPoint()), view->size());
            for (const char* name : {"graphForm", "otherGraphForm", "colourBy", "legend", "minimap",
                                     "minimapButton"}) {
                const auto* widget = find<QWidget>(name);
                const QRect place(widget->mapTo(&pane(), QPoint()), widget->size());
                QVERIFY2(!widget->isVisible() || !place.intersects(canvas), name);
                QVERIFY2(!widget->isVisible() || pane().rect().contains(place), name);
            }
        }
    }
}

void TestSmallScreens::theMapCanBePutAway()
{
    open();
    pane().view().setZoom(3);
    QTRY_VERIFY(find<QWidget>("minimap")->isVisible());
    QTest::mouseClick(find<QWidget>("minimapButton"), Qt::LeftButton);
    QVERIFY(!find<QWidget>("minimap")->isVisible());
    m_window = std::make_unique<MainWindow>(m_engine);
    m_window->show();
    open();
    pane().view().setZoom(3);
    QTest::qWait(20);
    QVERIFY(!find<QWidget>("minimap")->isVisible());
    QTest::mouseClick(find<QWidget>("minimapButton"), Qt::LeftButton);
    QVERIFY(find<QWidget>("minimap")->isVisible());
    // What is fitted is all in sight: nothing to map.
    pane().fit();
    QTRY_VERIFY(!find<QWidget>("minimap")->isVisible());
}

void TestSmallScreens::coloursAreChosenInTheMenu()
{
    m_window->resize(1280, 800);
    open();
    pane().expandAll();
    QTRY_VERIFY(settled());
    workspace().selectNode(node("linear"));
    workspace().assign({RuleKind::Node, {"linear"}}, std::string());
    QTRY_VERIFY(settled());
    m_window->bottomTabs().setCurrentIndex(3);
    pane().view().setZoom(1.3);
    const auto expanded = pane().expanded();
    QVERIFY(chosen("themeSystem")->isChecked());
    chosen("themeDark")->trigger();
    QTRY_VERIFY(theme().dark);
    QTRY_VERIFY(settled());
    QVERIFY(chosen("themeDark")->isChecked());
    QCOMPARE(pane().view().backgroundBrush().color(), Theme::darkTheme().canvas);
    // What was open, chosen and undoable still is.
    QCOMPARE(pane().expanded(), expanded);
    QCOMPARE(pane().view().zoom(), 1.3);
    QCOMPARE(m_window->bottomTabs().currentIndex(), 3);
    QVERIFY(workspace().selection().contains(node("linear")));
    QVERIFY(find<QWidget>("propertyTitle")->isVisible());
    m_window->actions()[ActionId::Undo].trigger();
    QTRY_VERIFY(workspace().document().recipe().mapping.rules.size() <= 1);
    // One window, whose parts are there once and answer once.
    QCOMPARE(m_window->findChildren<GraphPane*>().size(), 1);
    QCOMPARE(m_window->findChildren<QWidget*>(QStringLiteral("pipelineBar")).size(), 1);
    QVERIFY(savedStyle().colours == WindowStyle::Colours::Dark);
    chosen("themeLight")->trigger();
    QTRY_VERIFY(!theme().dark);
}

void TestSmallScreens::textSizeIsChosenInTheMenu()
{
    const int before = QApplication::font().pixelSize();
    chosen("textSize150")->trigger();
    QTRY_COMPARE(QApplication::font().pixelSize(), int(std::lround(12.5 * 1.5)));
    QVERIFY(QApplication::font().pixelSize() > before);
    QTRY_VERIFY(find<QWidget>("emptyState") && find<QWidget>("emptyState")->isVisible());
    QCOMPARE(savedStyle().textPercent, 150);
    QVERIFY(chosen("textSize150")->isChecked());
    QSettings().setValue(QStringLiteral("textSize"), 5000);
    QCOMPARE(savedStyle().textPercent, 100);
}

QTEST_MAIN(TestSmallScreens)
#include "tst_ui_small_screens.moc"
