// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/configure/recipe.h"
#include "tests/ui/real_engine.h"
#include "tests/ui/window_test.h"
#include "ui/frame/actions.h"
#include "ui/frame/message_bar.h"
#include "ui/panels/property_panel.h"
#include "ui/shell/autosave.h"

#include <QAction>
#include <QComboBox>
#include <QLabel>
#include <QPlainTextEdit>
#include <QProcess>
#include <QPushButton>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QtTest>

/// A step of a scenario; the scenario ends where it fails.
#define QS_STEP(step)                                                                              \
    do {                                                                                           \
        step;                                                                                      \
        if (QTest::currentTestFailed())                                                            \
            return;                                                                                \
    } while (false)

namespace qs::test {

/// A window on one of the models of the acceptance scenarios (tests/cli/scenario_models.py), with
/// words for what a user does and reads.
class ScenarioWindow : public WindowTest<RealEngine>
{
protected:
    QTemporaryDir m_folder;

    const Document& document() { return workspace().document(); }
    QString file(const char* name) const { return m_folder.filePath(QString::fromLatin1(name)); }

    /// Runs Python with `models`, `folder`, `torch` and `nn`; empty, or what it complained of.
    QString python(const QString& body)
    {
        const QString head = QStringLiteral(
            "import json, os, sys, pathlib\n"
            "os.environ['QUANTSCOPE'] = os.environ['QUANTSCOPE_SOURCE'] = sys.argv[1]\n"
            "sys.path.insert(0, sys.argv[1] + '/tests/cli')\n"
            "import torch, scenario_models as models\nfrom torch import nn\n"
            "import harness\nfolder = pathlib.Path(sys.argv[2])\ntorch.manual_seed(3)\n"
            "def write(place, /, **keys):\n"
            "    (folder / place).write_text(json.dumps(keys))\n"
            "def recipe(**keys):\n"
            "    write('recipe.json', format='quantscope.recipe', version=1, "
            "**{'backend': 'x86', **keys})\n");
        QFile script(file("make.py"));
        if (!script.open(QIODevice::WriteOnly))
            return script.errorString();
        script.write((head + body).toUtf8());
        script.close();
        QProcess process;
        process.start(QStringLiteral(QS_PYTHON),
                      {script.fileName(), QStringLiteral(QS_SOURCE_DIR), m_folder.path()});
        const bool isDone = process.waitForFinished(240000) && process.exitCode() == 0;
        return isDone ? QString() : QString::fromUtf8(process.readAllStandardError() + "failed");
    }

    /// Closes the window as a user does who keeps nothing.
    void leave()
    {
        if (!m_window)
            return;
        m_window->autosave().forget();
        m_window->autosave().endSteps();
        m_window.reset();
    }
    /// A new window, with the model and, if present, the recipe `recipe.json`.
    void open(const char* model = "model.pt2")
    {
        m_window = std::make_unique<MainWindow>(m_engine);
        m_window->actions()[ActionId::CompareAfterEach].setChecked(false);
        m_window->resize(1400, 900);
        m_window->show();
        Recipe recipe = defaultRecipe();
        if (QFile::exists(file("recipe.json"))) {
            auto read = readRecipe(file("recipe.json").toStdString());
            QVERIFY2(read, read ? "" : read.error().line().c_str());
            recipe = std::move(*read);
        }
        m_window->openModel(file(model), recipe);
    }
    void settle()
    {
        QTRY_VERIFY_WITH_TIMEOUT(settled() && !document().isStale(Stage::Plan), 120000);
    }
    void press(ActionId id) { m_window->actions()[id].trigger(); }

    /// Run > Run all, on the data beside the model.
    void runAll()
    {
        RunSettings settings = document().settings();
        settings.calibrationData = file("data.pt").toStdString();
        settings.device = "cpu";
        workspace().document().setSettings(settings);
        press(ActionId::RunAll);
        QTRY_VERIFY2_WITH_TIMEOUT(document().comparison() || !said().isEmpty(), qPrintable(said()),
                                  240000);
        settle();
    }
    /// What the message bar says.
    QString said()
    {
        const auto& bar = m_window->messageBar();
        return bar.isVisible() ? bar.headline() + QLatin1Char(' ') + bar.detail() : QString();
    }
    bool choose(const QString& words)
    {
        for (auto* button : m_window->messageBar().findChildren<QPushButton*>())
            if (button->isVisible() && button->text().contains(words)) {
                button->click();
                return true;
            }
        return false;
    }
    /// The code of a form, as the Code page shows it once `word` stands in it.
    QString code(const char* form, const QString& word)
    {
        m_window->showTab("codePanel");
        auto* text = find<QPlainTextEdit>("codeLeft");
        auto* forms = find<QComboBox>("codeForm");
        const QString before
            = forms->currentText() == QLatin1String(form) ? QString() : text->toPlainText();
        forms->setCurrentText(QLatin1String(form));
        const auto isShown
            = [&] { return text->toPlainText() != before && text->toPlainText().contains(word); };
        if (!QTest::qWaitFor(isShown, 20000))
            qWarning("no %s in: %s", qPrintable(word), qPrintable(text->toPlainText()));
        return text->toPlainText();
    }
    /// All that the cards say of a node.
    QString cards(const char* name)
    {
        const Node* found = document().model()->tryFind(name);
        if (!found)
            return QStringLiteral("no such node");
        workspace().selectNode(found->id);
        QTest::qWait(50); // cards follow the selection once control is back
        QString text;
        for (const auto* label : m_window->propertyPanel().findChildren<QLabel*>())
            text += label->text() + QLatin1Char(' ') + label->toolTip() + QLatin1Char('\n');
        return text;
    }
    const NodePlan& planOf(const char* name)
    {
        return *document().plan()->tryGet(*document().model(), node(name));
    }
    /// The verdict of each operator of a module.
    std::vector<bool> quantizedIn(const std::string& module)
    {
        std::vector<bool> out;
        for (const NodePtr& one : document().model()->nodes())
            if (one->isOperator() && one->scope.path == module)
                out.push_back(document().plan()->tryGet(*document().model(), one->id)->quantized);
        return out;
    }
};

} // namespace qs::test
