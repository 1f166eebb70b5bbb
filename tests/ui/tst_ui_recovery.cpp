// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/removing_engine.h"
#include "tests/ui/window_test.h"
#include "ui/frame/message_bar.h"
#include "ui/shell/project_files.h"
#include "ui/style/theme.h"

#include <QPushButton>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QtTest>

using namespace qs;

/// After a crash: the decision that was being applied is restored or left out, and named either
/// way. A crash is a window that goes without being closed.
class TestRecovery : public test::WindowTest<RemovingEngine>
{
    Q_OBJECT

private Q_SLOTS:
    void initTestCase() { QStandardPaths::setTestModeEnabled(true); }
    void init()
    {
        // Each test has its own model: saved decisions are found by its path.
        m_model = m_folder.filePath(QString::fromLatin1(QTest::currentTestFunction()) + ".pt2");
        start();
    }
    void cleanup() { m_window.reset(); }

    void theStepThatCrashedIsLeftOutByName()
    {
        keepFloat("linear");
        waitUntilKept();
        const Recipe kept = document().recipe();
        removeNode("relu");
        start(); // at once: before it was applied
        QVERIFY(bar().isVisible());
        QVERIFY2(bar().detail().contains("remove relu"), qPrintable(bar().detail()));
        QCOMPARE(choices(), QStringList({"Bring back", "Bring back all", "Drop"}));
        choose("Bring back");
        QVERIFY(document().recipe() == kept);
        QVERIFY2(bar().detail().contains("remove relu"), qPrintable(bar().detail()));
        // It is not applied again.
        waitUntilKept();
        start();
        QVERIFY2(!bar().detail().contains("remove relu"), qPrintable(bar().detail()));
        choose("Bring back");
        QVERIFY(document().recipe() == kept);
    }

    void theStepThatCrashedCanBeAppliedAgain()
    {
        keepFloat("linear");
        waitUntilKept();
        removeNode("relu");
        const Recipe all = document().recipe();
        start();
        choose("Bring back all");
        QVERIFY(document().recipe() == all);
        // It crashes again: it is left out again.
        start();
        QVERIFY2(bar().detail().contains("remove relu"), qPrintable(bar().detail()));
        QVERIFY(document().recipe() == defaultRecipe());
    }

    void theFirstStepIsNamedToo()
    {
        removeNode("relu");
        const Recipe all = document().recipe();
        start();
        QVERIFY2(bar().detail().contains("remove relu"), qPrintable(bar().detail()));
        QCOMPARE(choices(), QStringList({"Apply again", "Drop"}));
        choose("Apply again");
        QVERIFY(document().recipe() == all);
        QTRY_VERIFY(!document().model()->tryFind("relu"));
    }

    void whatWentWellIsNoStepUnderWay()
    {
        removeNode("relu");
        QTRY_VERIFY(!document().model()->tryFind("relu"));
        const Recipe all = document().recipe();
        waitUntilKept();
        start();
        QVERIFY(bar().isVisible());
        QVERIFY2(!bar().detail().contains("while it applied"), qPrintable(bar().detail()));
        choose("Bring back");
        QVERIFY(document().recipe() == all);
    }

    void dropForgetsBoth()
    {
        keepFloat("linear");
        waitUntilKept();
        removeNode("relu");
        start();
        choose("Drop");
        start();
        QVERIFY(!bar().isVisible());
    }

    void leavingEndsTheSteps()
    {
        keepFloat("linear");
        workspace().undoStack().undo();
        QVERIFY(!document().isModified());
        m_window->close();
        start();
        QVERIFY(!bar().isVisible());
    }

private:
    QTemporaryDir m_folder;
    QString m_model;

    Document& document() { return workspace().document(); }
    MessageBar& bar() { return m_window->messageBar(); }
    QString unsaved() { return unsavedFileFor(m_model); }

    void start()
    {
        m_window.reset();
        m_window = std::make_unique<MainWindow>(m_engine);
        m_window->resize(1280, 800);
        m_window->show();
        m_window->openModel(m_model);
        QTRY_VERIFY(settled());
        QApplication::processEvents();
    }

    /// Whole, and nothing under way.
    void waitUntilKept()
    {
        QTRY_VERIFY_WITH_TIMEOUT(
            QFile::exists(unsaved()) && !QFile::exists(unsaved() + QStringLiteral(".step")), 10000);
    }

    void keepFloat(const char* name)
    {
        workspace().assign({RuleKind::Node, {name}}, std::string());
    }

    void removeNode(const char* name)
    {
        Recipe recipe = document().recipe();
        EditStep step;
        step.kind = EditKind::Remove;
        step.at = document().edited()->addresses->of({node(name), 0});
        recipe.edits.push_back(step);
        workspace().change(QStringLiteral("remove %1").arg(QLatin1String(name)), recipe);
    }

    QStringList choices()
    {
        QStringList texts;
        for (auto* button : bar().findChildren<QPushButton*>())
            if (button->isVisible() && !button->text().isEmpty())
                texts << button->text();
        return texts;
    }

    void choose(const char* text)
    {
        for (auto* button : bar().findChildren<QPushButton*>())
            if (button->isVisible() && button->text() == QLatin1String(text)) {
                button->click();
                return;
            }
        QFAIL(qPrintable(
            QStringLiteral("no %1 among %2").arg(QLatin1String(text), choices().join(", "))));
    }
};

QTEST_MAIN(TestRecovery)
#include "tst_ui_recovery.moc"
