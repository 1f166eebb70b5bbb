// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "tests/support/fake_engine.h"
#include "tests/ui/window_test.h"
#include "ui/cure/cause_list.h"
#include "ui/cure/cure_list.h"
#include "ui/cure/front_plot.h"
#include "ui/cure/share_bar.h"
#include "ui/frame/actions.h"
#include "ui/session/text.h"
#include "ui/style/window_style.h"

#include <QApplication>
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QLabel>
#include <QPushButton>
#include <QSettings>
#include <QSpinBox>
#include <QStandardPaths>
#include <QTabWidget>
#include <QtTest>

namespace qs::test {

/// The Cure page on an engine that waits and fails at will.
class CureWindow : public WindowTest<FakeEngine>
{
protected:
    Document& document() { return workspace().document(); }
    CureSearch& search() { return workspace().cureSearch(); }
    QAction& action(ActionId id) { return m_window->actions()[id]; }
    QWidget& page() { return *find<QWidget>("curePage"); }
    FrontPlot& front() { return *find<FrontPlot>("frontPlot"); }
    ShareBar& bar() { return *find<ShareBar>("shareBar"); }
    CauseList& causes() { return *find<CauseList>("causeList"); }
    CureList& cures() { return *find<CureList>("cureList"); }
    QPushButton& button(const char* name) { return *find<QPushButton>(name); }
    QString note() { return find<QLabel>("cureNote")->text(); }
    QString stateText() { return find<QLabel>("cureState")->text(); }
    int steps() { return workspace().undoStack().index(); }
    void click(const char* name) { QTest::mouseClick(&button(name), Qt::LeftButton); }
    void keepFcFloat() { workspace().assign({RuleKind::ModuleName, {"fc"}}, std::string()); }
    bool isQuiet() { return settled() && !search().isRunning(); }
    void open()
    {
        m_window = std::make_unique<MainWindow>(m_engine);
        m_window->resize(1280, 720);
        m_window->show();
        m_window->openModel(QStringLiteral("/models/net.pt2"));
        QTRY_VERIFY(settled());
        action(ActionId::ShowCure).trigger();
        QTRY_VERIFY(page().isVisible());
    }
    void compare()
    {
        workspace().pipeline().runUpTo(Stage::Compare);
        QTRY_VERIFY(document().comparison() && settled());
    }
    void findCauses()
    {
        compare();
        action(ActionId::FindCauses).trigger();
        QTRY_VERIFY(document().diagnosis() && settled());
        QTRY_VERIFY(bar().isVisible());
        QTRY_COMPARE(cures().topLevelItemCount(), 1); // of the first cause
    }
    void runAll()
    {
        click("cureRun");
        QTRY_VERIFY(search().phase() == CureSearch::Phase::Ended && settled());
        QTRY_COMPARE(front().dotCount(), 5);
    }
    void runUntilItWaits()
    {
        m_engine.waitInSearch = true;
        click("cureRun");
        QTRY_COMPARE(front().dotCount(), 3);
    }
    void clickDot(int trial)
    {
        auto* plot = find<QWidget>("frontDots");
        QTest::mouseClick(plot, Qt::LeftButton, {}, front().dotPosition(trial));
    }
    void prepare()
    {
        QStandardPaths::setTestModeEnabled(true);
        QDir(QStandardPaths::writableLocation(QStandardPaths::AppDataLocation)).removeRecursively();
        QSettings().clear();
        m_engine.waitInSearch = m_engine.tellsAfterCancel = m_engine.failSearch = false;
        m_engine.isHealthy = false;
        m_engine.searches = m_engine.measuredTrials = 0;
        m_engine.causeCount = 3;
        open();
    }
    void finish()
    {
        m_engine.waitInSearch = false;
        m_window.reset();
        applyStyle(*qApp, {});
    }
};

} // namespace qs::test
