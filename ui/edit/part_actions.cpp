// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/edit/part_actions.h"

#include "ui/frame/actions.h"
#include "ui/frame/message_bar.h"
#include "ui/session/text.h"

#include <QAction>
#include <QFileDialog>
#include <QFileInfo>

#include <algorithm>

namespace qs {

namespace {

const QString kPartTopic = QStringLiteral("part");

} // namespace

PartActions::PartActions(Actions& actions, Workspace& workspace, GraphEditor& editor,
                         MessageBar& messages, QWidget& window, QObject* parent)
    : QObject(parent)
    , m_actions(actions)
    , m_workspace(workspace)
    , m_editor(editor)
    , m_messages(messages)
    , m_window(window)
{
    connect(&m_actions[ActionId::SavePartData], &QAction::triggered, this,
            &PartActions::askForFile);
    connect(&workspace.selection(), &Selection::changed, this, &PartActions::refresh);
    connect(&workspace, &Workspace::treeChanged, this, &PartActions::refresh);
    connect(&workspace.document(), &Document::recipeChanged, this, &PartActions::followEdits);
    connect(&workspace.document(), &Document::modelChanged, this, [this] { m_partData.clear(); });
    refresh();
}

void PartActions::followEdits()
{
    const std::vector<EditStep>& edits = m_workspace.document().recipe().edits;
    RunSettings settings = m_workspace.document().settings();
    const auto follow = [&](PartData& data) {
        const bool isPart = edits.size() >= data.edits.size()
            && std::equal(data.edits.begin(), data.edits.end(), edits.begin());
        if (isPart == data.isChosen)
            return;
        data.isChosen = isPart;
        // Data that the user chose later stay.
        if (isPart && settings.calibrationData == data.calibration
            && settings.comparisonData == data.comparison) {
            settings.calibrationData = data.part;
            settings.comparisonData.clear();
        } else if (!isPart && settings.calibrationData == data.part) {
            settings.calibrationData = data.calibration;
            settings.comparisonData = data.comparison;
        }
    };
    // Undo from the last part to the first, redo from the first on.
    std::for_each(m_partData.rbegin(), m_partData.rend(), [&](PartData& data) {
        if (data.isChosen)
            follow(data);
    });
    std::for_each(m_partData.begin(), m_partData.end(), follow);
    if (!(settings == m_workspace.document().settings()))
        m_workspace.document().setSettings(settings);
}

void PartActions::refresh()
{
    const Document& document = m_workspace.document();
    m_actions[ActionId::ExtractSelection].setEnabled(document.model()
                                                     && !m_workspace.selection().isEmpty());
    m_actions[ActionId::SavePartData].setEnabled(document.edited()
                                                 && !document.edited()->extractions.empty());
}

void PartActions::extract()
{
    if (m_workspace.selection().edge()) {
        m_messages.showMessage(MessageBar::Kind::Note, tr("An edge is selected"),
                               tr("Select the operators to extract"));
        return;
    }
    EditStep step;
    step.kind = EditKind::Extract;
    const bool isFloat = m_editor.form() == EditForm::Float;
    const GraphPtr graph = m_editor.graph();
    for (const NodeId id : isFloat ? m_workspace.selection().nodes() : m_editor.selectedInForm())
        if (const Node* node = graph->tryGet(id); node && node->isOperator())
            step.nodes.push_back(m_editor.addressOf({id, 0}));
    m_editor.attempt(step, [this, isFloat](const QString& problem) {
        if (!problem.isEmpty())
            m_messages.showMessage(MessageBar::Kind::Warning, tr("Not extracted"), problem);
        else if (isFloat)
            offerData();
        else
            m_messages.showMessage(
                MessageBar::Kind::Note, tr("This form contains only the part"),
                tr("Its files contain only the part. Comparing and verifying compute its inputs "
                   "with the whole form, from the model's data"));
    });
}

void PartActions::offerData()
{
    QAction& save = m_actions[ActionId::SavePartData];
    m_messages.showChoices(
        MessageBar::Kind::Note, kPartTopic, tr("The part has its own inputs"),
        tr("The whole model's data do not fit it; a run of the whole model computes its inputs"),
        {}, {{save.text().remove(QLatin1Char('&')), save.toolTip(), [&save] { save.trigger(); }}});
}

void PartActions::askForFile()
{
    const QFileInfo model(toQString(m_workspace.document().model()->info().path));
    const QString path = QFileDialog::getSaveFileName(
        &m_window, tr("Save the part's data"),
        model.dir().filePath(model.completeBaseName() + QStringLiteral(".part.npz")),
        tr("NumPy arrays (*.npz)"));
    if (!path.isEmpty())
        saveData(path);
}

void PartActions::saveData(const QString& path)
{
    const Document& document = m_workspace.document();
    for (const std::string& read :
         {document.settings().calibrationData, document.settings().comparisonData})
        if (!read.empty() && QFileInfo(path) == QFileInfo(toQString(read))) {
            m_messages.showMessage(
                MessageBar::Kind::Warning, tr("Not saved"),
                tr("The file contains the data for this run; choose another name"));
            return;
        }
    m_workspace.pipeline().jobs().run(
        Lane::Engine, QStringLiteral("savePartData"),
        [engine = &m_workspace.pipeline().engine(), part = document.edited(),
         recipe = document.recipe(), settings = document.settings(),
         target = path.toStdString()](JobContext& job) {
            return engine->savePartInputs(part, recipe, settings, target, job);
        },
        this,
        [this, path, part = document.edited()](Result<void> saved) {
            if (!saved) {
                m_messages.showError(tr("Saving the part's data"), saved.error());
                return;
            }
            const bool isOpen = m_workspace.document().edited() == part;
            if (isOpen) {
                RunSettings settings = m_workspace.document().settings();
                m_partData.push_back({m_workspace.document().recipe().edits, path.toStdString(),
                                      settings.calibrationData, settings.comparisonData});
                settings.calibrationData = path.toStdString();
                settings.comparisonData.clear();
                m_workspace.document().setSettings(settings);
            }
            m_messages.showMessage(MessageBar::Kind::Note, tr("Saved"),
                                   isOpen ? tr("%1; the part is calibrated on it").arg(path)
                                          : path);
        });
}

} // namespace qs
