// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/configure/recipe.h"
#include "engine/pipeline/engine_service.h"
#include "tests/support/command_line.h"
#include "tests/ui/shown_numbers.h"
#include "ui/edit/edit_dialog.h"
#include "ui/frame/actions.h"
#include "ui/frame/message_bar.h"
#include "ui/graph/view/graph_pane.h"
#include "ui/shell/main_window.h"
#include "ui/shell/project_files.h"

#include <QAction>
#include <QComboBox>
#include <QJsonArray>
#include <QJsonObject>
#include <QLabel>
#include <QLineEdit>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QtTest>

namespace qs::test {

/// A test with the sample open in the window on the real engine, few batches, to change its graph.
class EditsWindow : public QObject
{
protected:
    QTemporaryDir m_folder;
    std::unique_ptr<EngineService> m_engine;
    std::unique_ptr<MainWindow> m_window;
    CommandLine m_commandLine {kSamples + "digits.pt2", m_folder.path()};

    Workspace& workspace() { return m_window->workspace(); }
    Document& document() { return workspace().document(); }
    QAction& action(ActionId id) { return m_window->actions()[id]; }
    const Node* node(const char* name) { return document().model()->tryFind(name); }
    void settle()
    {
        QTRY_VERIFY_WITH_TIMEOUT(!workspace().pipeline().isBusy() && !document().isGraphStale(),
                                 120000);
    }
    bool isCurrent(Stage stage)
    {
        return document().hasResult(stage) && !document().isStale(stage);
    }

    /// A key of the main window, which a dialog before may have taken the focus from.
    void press(Qt::Key key, Qt::KeyboardModifiers modifiers)
    {
        m_window->activateWindow();
        QTRY_VERIFY(m_window->isActiveWindow());
        QTest::keyClick(m_window.get(), key, modifiers);
    }

    void select(const char* name) { workspace().selection().selectNodes({node(name)->id}); }

    /// The dialog that a command opens; filled by `fill`, then Return. `wanted`: it closes.
    void ask(ActionId command, const std::function<void(EditDialog&)>& fill, bool wanted = true)
    {
        QVERIFY2(action(command).isEnabled(), qPrintable(action(command).objectName()));
        action(command).trigger();
        QPointer<EditDialog> dialog = m_window->findChild<EditDialog*>();
        QVERIFY(dialog);
        fill(*dialog);
        QTest::keyClick(dialog.data(), Qt::Key_Return);
        if (wanted) {
            QTRY_VERIFY_WITH_TIMEOUT(!dialog || !dialog->isVisible(), 20000);
            settle();
            return;
        }
        auto* problem = dialog->findChild<QLabel*>("editProblem");
        QTRY_VERIFY_WITH_TIMEOUT(problem->isVisible(), 20000);
        QVERIFY(!problem->text().contains('\n'));
    }

    static void type(QWidget& dialog, const char* name, const QString& text)
    {
        auto* box = dialog.findChild<QComboBox*>(name);
        auto* field = box ? box->lineEdit() : dialog.findChild<QLineEdit*>(name);
        QVERIFY2(field, name);
        field->selectAll();
        field->setText(text);
        if (box)
            box->setCurrentText(text);
    }

    /// Every operator's errors are those of the command line for the same decisions.
    void checkAgainstTheCommandLine(int atLeast = 5)
    {
        QVERIFY(isCurrent(Stage::Compare));
        const QJsonObject told = m_commandLine.quantize(document().recipe(), document().settings());
        int compared = 0;
        for (const QJsonValue value : told["nodes"].toArray()) {
            const QJsonObject wanted = value.toObject();
            const Node* shown
                = document().model()->tryFind(wanted["name"].toString().toStdString());
            QVERIFY2(shown, qPrintable(wanted["name"].toString()));
            const NodeError* error = workspace().facts().error(shown->id);
            if (!wanted["error"].isObject() || workspace().facts().last(shown->id) != shown->id)
                continue;
            QVERIFY(error);
            checkTerm(wanted["error"].toObject()["isolated"], error->isolated);
            checkTerm(wanted["error"].toObject()["cumulative"], error->cumulative);
            ++compared;
        }
        QVERIFY(compared > atLeast);
    }

    void startEngine()
    {
        QStandardPaths::setTestModeEnabled(true);
        m_engine = makeEngine();
    }

    void openFile(const QString& file)
    {
        m_window = std::make_unique<MainWindow>(*m_engine);
        m_window->resize(1280, 800);
        m_window->show();
        m_window->openModel(file);
        QTRY_VERIFY_WITH_TIMEOUT(document().plan() && m_window->graphPane().isLayoutDone(), 60000);
    }

    void openSample()
    {
        openFile(kSamples + "digits.pt2");
        RunSettings settings = document().settings();
        settings.comparisonData.clear();
        settings.device = "cpu";
        document().setSettings(settings);
        Recipe recipe = document().recipe();
        recipe.calibration.batches = 2;
        workspace().change(QStringLiteral("few batches"), recipe);
        settle();
    }
};

} // namespace qs::test
