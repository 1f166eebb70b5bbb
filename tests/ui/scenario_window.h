// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/configure/recipe.h"
#include "tests/ui/dialogs.h"
#include "tests/ui/real_engine.h"
#include "tests/ui/shown_texts.h"
#include "tests/ui/window_test.h"
#include "ui/frame/actions.h"
#include "ui/frame/message_bar.h"
#include "ui/panels/property_panel.h"
#include "ui/plots/histogram_plot.h"
#include "ui/shell/autosave.h"

#include <QAction>
#include <QCheckBox>
#include <QComboBox>
#include <QLabel>
#include <QMenu>
#include <QPlainTextEdit>
#include <QProcess>
#include <QPushButton>
#include <QStandardPaths>
#include <QTemporaryDir>
#include <QTreeView>
#include <QTreeWidget>
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
    const QString kObserver = QStringLiteral("= self.activation_post_process_");
    const QString kQuantize = QStringLiteral("torch.quantize_per_tensor(");
    const QString kDequantize = QStringLiteral(".dequantize()");
    const QString kQuantized = QStringLiteral("quantized");
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
    /// Writes files with `python` and opens the model.
    void made(const QString& body, const char* model = "model.pt2")
    {
        const QString problem = python(body);
        QVERIFY2(problem.isEmpty(), qPrintable(problem));
        QS_STEP(open(model));
        QS_STEP(settle());
    }
    void click(QAbstractItemView& view, const QModelIndex& index)
    {
        view.scrollTo(index);
        QTest::mouseClick(view.viewport(), Qt::LeftButton, {}, view.visualRect(index).center());
        QTest::qWait(50); // views follow the selection once control is back
    }
    /// Returns the row of the module tree with that title; invalid if there is none.
    QModelIndex row(const QString& title)
    {
        auto* tree = find<QTreeView>("moduleTree");
        tree->expandAll();
        const auto rows = tree->model()->match(tree->model()->index(0, 0), Qt::DisplayRole, title,
                                               1, Qt::MatchExactly | Qt::MatchRecursive);
        return rows.isEmpty() ? QModelIndex() : rows.front();
    }
    /// Clicks that row.
    void select(const QString& title)
    {
        const QModelIndex found = row(title);
        QVERIFY2(found.isValid(), qPrintable(title));
        click(*find<QTreeView>("moduleTree"), found);
    }
    /// All that the cards say of what the row stands for.
    QString cards(const QString& title)
    {
        select(title);
        QStringList texts;
        for (const auto* label : m_window->propertyPanel().findChildren<QLabel*>())
            if (label->isVisible())
                texts << label->text();
        return texts.join(QLatin1Char('\n'));
    }
    /// The value of a row in a card, once the tree's row is clicked.
    QString value(const QString& title, const char* card, const char* label)
    {
        select(title);
        return cardValue(*m_window, card, QString::fromUtf8(label));
    }
    /// The verdict's word on its pill.
    QString verdict(const QString& title)
    {
        select(title);
        for (const auto* pill : find<Card>("cardWhy")->findChildren<Pill*>())
            if (pill->isVisible())
                return pill->text();
        return {};
    }
    /// A figure of the strip of results; empty where it is not shown.
    QString figure(const char* name)
    {
        const auto* label = find<QLabel>(name);
        return label && label->isVisible() ? label->text() : QString();
    }
    HistogramPlot& histogram()
    {
        m_window->showTab("histogramPlot");
        return *find<HistogramPlot>("histogramPlot");
    }
    /// The line of the list of findings that has these words, once it is there; null if none comes.
    QTreeWidgetItem* findingRow(const QString& words)
    {
        m_window->showTab("findingsPanel");
        QTreeWidgetItem* found = nullptr;
        const auto isThere = [&] {
            found = nullptr;
            auto* list = find<QTreeWidget>("findingsPanel");
            for (QTreeWidgetItemIterator it(list); *it; ++it)
                if ((*it)->text(1).contains(words))
                    found = *it;
            return found != nullptr;
        };
        if (!QTest::qWaitFor(isThere, 5000))
            qWarning("no finding says: %s", qPrintable(words));
        return found;
    }
    /// The reference form's error of each output, from the card of the whole model.
    std::vector<double> outputErrors()
    {
        click(*find<QTreeView>("moduleTree"), find<QTreeView>("moduleTree")->model()->index(0, 0));
        const QStringList texts = cardTexts(*m_window, "cardLoss");
        std::vector<double> out;
        for (qsizetype i = 0; i + 1 < texts.size(); ++i)
            if (texts[i] == QLatin1String("reference"))
                out.push_back(texts[i + 1].section(QLatin1Char(' '), 0, 0).toDouble());
        return out;
    }
    /// Chooses in the menu of the Backend tile, by the text or the name of the entry.
    void fromBackendMenu(const QString& entry)
    {
        QTimer::singleShot(0, m_window.get(), [this, entry] {
            QMenu* menu = nullptr;
            QTRY_VERIFY((menu = m_window->findChild<QMenu*>("backendMenu")));
            for (auto* action : menu->actions())
                if (action->objectName() == entry
                    || action->text().section(QLatin1Char('\t'), 0, 0) == entry)
                    action->trigger();
            menu->close();
        });
        press(ActionId::Backend);
    }
    /// Export, with the forms that are offered, into a folder of the test's own.
    void exportInto(const char* folder, const QStringList& forms)
    {
        atDialog<QDialog>(*this, [this, folder, forms](QDialog& dialog) {
            dialog.findChild<QLineEdit*>(QStringLiteral("exportFolder"))->setText(file(folder));
            for (auto* box : dialog.findChildren<QCheckBox*>())
                if (box->objectName().startsWith(QLatin1String("form_")))
                    box->setChecked(forms.contains(box->objectName().mid(5)));
            dialog.accept();
        });
        press(ActionId::Export);
        settle();
    }
};

} // namespace qs::test
