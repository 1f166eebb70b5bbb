// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "tests/support/fake_engine.h"
#include "tests/ui/window_test.h"

#include <QApplication>
#include <QSettings>
#include <QtTest>

namespace qs::test {

/// A window on the fake engine that is used by keys.
class KeysWindow : public WindowTest<FakeEngine>
{
protected:
    /// A key as the window gets it, wherever the keyboard is.
    void press(Qt::Key key, Qt::KeyboardModifiers modifiers = Qt::NoModifier)
    {
        if (!QApplication::focusWidget()) {
            m_window->activateWindow();
            QTRY_VERIFY(QApplication::focusWidget());
        }
        QWidget* target = QApplication::focusWidget();
        QTest::keyClick(target ? target : m_window.get(), key, modifiers);
    }
    void type(const char* text)
    {
        QTest::keyClicks(QApplication::focusWidget(), QString::fromUtf8(text));
    }
    void openModel()
    {
        m_window->openModel(QStringLiteral("/models/net.pt2"));
        QTRY_VERIFY(settled());
    }
    void start()
    {
        QSettings().remove(QStringLiteral("guideHidden"));
        m_window = std::make_unique<MainWindow>(m_engine);
        m_window->resize(1280, 800);
        m_window->show();
        QVERIFY(QTest::qWaitForWindowActive(m_window.get()));
    }
};

} // namespace qs::test
