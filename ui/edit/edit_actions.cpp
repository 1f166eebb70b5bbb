// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/edit/edit_actions.h"

#include "engine/edit/edit_titles.h"
#include "ui/edit/insert_dialogs.h"
#include "ui/edit/operator_dialogs.h"
#include "ui/edit/part_actions.h"
#include "ui/edit/rewire_drag.h"
#include "ui/frame/actions.h"
#include "ui/frame/message_bar.h"
#include "ui/graph/style/graph_style.h"
#include "ui/graph/view/graph_view.h"
#include "ui/session/decisions/edge_decisions.h"
#include "ui/session/text.h"

#include <QAction>
#include <QDir>
#include <QFileDialog>
#include <QFileInfo>

#include <algorithm>

namespace qs {

namespace {

constexpr ActionId kNodeActions[] = {
    ActionId::InsertAfter,  ActionId::InsertOnInput, ActionId::RemoveNode,  ActionId::ReplaceNode,
    ActionId::ReplaceEvery, ActionId::SetArguments,  ActionId::RewireInput, ActionId::DuplicateNode,
    ActionId::RenameNode,   ActionId::MakeOutput};

const QString kFormTopic = QStringLiteral("editedForm");
const QString kEdgeTopic = QStringLiteral("editedEdge");

bool isOperator(const Graph& model, NodeId id)
{
    const Node* node = model.tryGet(id);
    return node && node->isOperator();
}

EditStep editOf(EditKind kind, const GraphEditor& editor, ValueRef value)
{
    EditStep step;
    step.kind = kind;
    step.at = editor.addressOf(value);
    return step;
}

} // namespace

EditActions::EditActions(Actions& actions, Workspace& workspace, GraphEditor& editor,
                         MessageBar& messages, QWidget& window, QObject* parent)
    : QObject(parent)
    , m_actions(actions)
    , m_workspace(workspace)
    , m_editor(editor)
    , m_messages(messages)
    , m_window(window)
{
    connectCommands();
    connect(&workspace.selection(), &Selection::changed, this, &EditActions::refresh);
    connect(&workspace, &Workspace::treeChanged, this, &EditActions::refresh);
    refresh();
    auto* parts = new PartActions(actions, workspace, editor, messages, window, this);
    connect(&actions[ActionId::ExtractSelection], &QAction::triggered, parts, [this, parts] {
        if (canEdit())
            parts->extract();
    });
}

void EditActions::connectCommands()
{
    const auto on = [&](ActionId id, auto&& handler) {
        connect(&m_actions[id], &QAction::triggered, this, [this, handler] {
            if (canEdit())
                handler();
        });
    };
    const auto replacement = [this](bool every) {
        return [this, every](EditDialog& dialog, const About&, const Node& node) {
            askReplacement(dialog, m_editor, node, every);
        };
    };
    on(ActionId::InsertAfter, [this] { insert(false); });
    on(ActionId::InsertOnInput, [this] { insert(true); });
    on(ActionId::RemoveNode, [this] { remove(); });
    on(ActionId::ReplaceNode, [=, this] { ask(tr("Replace"), replacement(false)); });
    on(ActionId::ReplaceEvery, [=, this] { ask(tr("Replace"), replacement(true)); });
    on(ActionId::SetArguments, [this] {
        ask(tr("Set"), [this](EditDialog& dialog, const About& about, const Node& node) {
            askArguments(dialog, m_editor, *about.model, node);
        });
    });
    on(ActionId::RewireInput, [this] { rewire(); });
    on(ActionId::DuplicateNode, [this] { duplicate(); });
    on(ActionId::RenameNode, [this] {
        ask(tr("Rename"), [this](EditDialog& dialog, const About&, const Node& node) {
            askNewName(dialog, m_editor, node);
        });
    });
    on(ActionId::MakeOutput, [this] { makeOutput(); });
    on(ActionId::DropOutput, [this] { dropOutput(); });
    on(ActionId::LoadConstant, [this] { loadConstant(); });
    on(ActionId::FoldConstants, [this] {
        EditStep step;
        step.kind = EditKind::Fold;
        make(step);
    });
    connect(&m_actions[ActionId::SaveEdited], &QAction::triggered, this, &EditActions::saveEdited);
}

void EditActions::takeDrags(GraphView& view)
{
    auto* drag = new RewireDrag(view, m_workspace, m_editor, &view);
    connect(drag, &RewireDrag::wanted, this, [this](const EditStep& step) { make(step); });
    connect(drag, &RewireDrag::refused, this,
            [this](const QString& why) { refuse(tr("Not fed"), why); });
}

EditActions::About EditActions::about() const
{
    About about {m_editor.graph(), {}, {}};
    const Selection& selection = m_workspace.selection();
    if (!about.model)
        return about;
    if (m_editor.form() != EditForm::Float) {
        if (!m_workspace.selection().isModule())
            about.operators = m_editor.selectedInForm();
        return about;
    }
    about.edge = selection.edge();
    std::vector<NodeId> nodes;
    if (about.edge)
        nodes = {about.edge->value.node, about.edge->reader.node};
    else if (!selection.isModule())
        nodes = selection.nodes();
    for (const NodeId id : nodes)
        if (isOperator(*about.model, id))
            about.operators.push_back(id);
    std::sort(about.operators.begin(), about.operators.end(), [&](NodeId a, NodeId b) {
        return about.model->position(a) < about.model->position(b);
    });
    return about;
}

bool EditActions::canEdit()
{
    if (m_editor.graph())
        return true;
    auto& pipeline = m_workspace.pipeline();
    m_messages.showChoices(
        MessageBar::Kind::Note, kFormTopic, tr("Nothing is converted yet"),
        tr("Convert the model to edit this form; the float form can be edited now"), {},
        {{tr("Convert"), tr("Calibrate where that is needed, and convert"),
          [&pipeline] { pipeline.runUpTo(Stage::Convert); }}});
    return false;
}

void EditActions::refresh()
{
    const GraphPtr& model = m_workspace.document().model();
    const Selection& selection = m_workspace.selection();
    const auto& nodes = selection.nodes();
    const bool isAny = model && !selection.isModule()
        && (m_editor.form() != EditForm::Float
                ? !nodes.empty()
                : std::any_of(nodes.begin(), nodes.end(),
                              [&](NodeId id) { return isOperator(*model, id); }));
    for (const ActionId id : kNodeActions)
        m_actions[id].setEnabled(isAny || (model && selection.edge()));
    for (const ActionId id :
         {ActionId::DropOutput, ActionId::LoadConstant, ActionId::FoldConstants})
        m_actions[id].setEnabled(model != nullptr);
}

void EditActions::make(const EditStep& step)
{
    m_editor.attempt(step, [this, text = m_editor.textOf(step)](const QString& problem) {
        if (!problem.isEmpty())
            refuse(tr("Not done: %1").arg(text), problem);
    });
}

void EditActions::refuse(const QString& what, const QString& why)
{
    m_messages.showMessage(MessageBar::Kind::Warning, what, why);
}

EditDialog* EditActions::newDialog(const QString& title, const QString& ok)
{
    auto* dialog = new EditDialog(m_editor, title, ok, &m_window);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    return dialog;
}

void EditActions::ask(const QString& ok, const Ask& rest)
{
    const About now = about();
    if (now.operators.empty())
        return refuse(tr("Nothing to change"),
                      now.edge ? tr("Neither end of the edge is an operator")
                               : tr("This form has no operator for what is selected"));
    auto* dialog = newDialog(ok, ok);
    QStringList members;
    const NodeTitles titles(*now.model);
    for (const NodeId id : now.operators)
        members << toQString(titles.of(now.model->get(id)));
    dialog->askMember(members, [dialog, now, rest](int member) {
        rest(*dialog, now, now.model->get(now.operators.at(std::size_t(member))));
    });
    dialog->open();
}

void EditActions::insert(bool before)
{
    const About now = about();
    if (now.edge) {
        auto* dialog = newDialog({}, tr("Insert"));
        askInsertOnEdge(*dialog, m_editor, *now.model, *now.edge);
        dialog->open();
        return;
    }
    ask(tr("Insert"), [this, before](EditDialog& dialog, const About& about, const Node& node) {
        if (before)
            askInsertOnInput(dialog, m_editor, *about.model, node);
        else
            askInsertAfter(dialog, m_editor, *about.model, node);
    });
}

void EditActions::remove()
{
    const About now = about();
    if (!now.edge)
        return removeAll(now.operators);
    // An edge cannot be removed, as its reader needs a value. Offer the operators at its ends.
    std::vector<MessageBar::Choice> choices;
    for (const NodeId id : now.operators)
        choices.push_back({tr("Remove %1").arg(toQString(nodeTitle(*now.model, id))),
                           tr("Its readers read its input"), [this, id] {
                               if (isOperator(*m_workspace.document().model(), id))
                                   removeAll({id});
                           }});
    if (isOperator(*now.model, now.edge->reader.node))
        choices.push_back({tr("Feed the input…"), tr("Let the reader read another value"),
                           [this] { m_actions[ActionId::RewireInput].trigger(); }});
    m_messages.showChoices(
        MessageBar::Kind::Note, kEdgeTopic,
        tr("The edge %1 cannot be removed").arg(edgeText(m_workspace.facts(), *now.edge)),
        tr("Its reader needs a value; remove an operator at its ends, or feed the reader another "
           "value"),
        {}, std::move(choices));
}

/// Removes the operators from last to first: removing one may change the shape that later ones
/// read.
void EditActions::removeAll(const std::vector<NodeId>& operators)
{
    std::vector<EditStep> steps;
    for (const NodeId id : operators)
        steps.insert(steps.begin(), editOf(EditKind::Remove, m_editor, {id, 0}));
    if (steps.size() == 1)
        return make(steps.front());
    if (steps.empty())
        return;
    QString names = titlesOf(m_workspace.document(), operators);
    if (m_editor.form() != EditForm::Float) { // the document has titles of the float graph only
        const GraphPtr graph = m_editor.graph();
        const NodeTitles titles(*graph);
        QStringList each;
        for (const NodeId id : operators)
            each << toQString(titles.of(graph->get(id)));
        names = each.size() > 3 ? tr("%1 nodes").arg(each.size()) : each.join(", ");
    }
    const QString text = tr("remove %1").arg(names);
    m_editor.attempt(
        steps,
        [this, text](const QString& problem) {
            if (!problem.isEmpty())
                refuse(tr("Not done: %1").arg(text), problem);
        },
        text);
}

void EditActions::rewire()
{
    const About now = about();
    if (!now.edge)
        return ask(tr("Feed"), [this](EditDialog& dialog, const About& about, const Node& node) {
            askOtherInput(dialog, m_editor, about.model, node, nullptr);
        });
    if (!isOperator(*now.model, now.edge->reader.node))
        return refuse(tr("Not fed"), tr("Outputs of the model can be added and dropped, not fed"));
    auto* dialog = newDialog({}, tr("Feed"));
    askOtherInput(*dialog, m_editor, now.model, now.model->get(now.edge->reader.node), &*now.edge);
    dialog->open();
}

void EditActions::duplicate()
{
    const About now = about();
    if (!now.edge)
        return ask(tr("Duplicate"), [this](EditDialog& dialog, const About&, const Node& node) {
            askDuplicate(dialog, m_editor, node, nullptr);
        });
    if (!isOperator(*now.model, now.edge->value.node))
        return refuse(tr("Not duplicated"), tr("No operator computes the value of the edge"));
    auto* dialog = newDialog({}, tr("Duplicate"));
    askDuplicate(*dialog, m_editor, now.model->get(now.edge->value.node), &*now.edge);
    dialog->open();
}

void EditActions::makeOutput()
{
    const About now = about();
    if (now.edge)
        return make(editOf(EditKind::AddOutput, m_editor, now.edge->value));
    if (now.operators.size() == 1)
        return make(editOf(EditKind::AddOutput, m_editor, {now.operators.front(), 0}));
    ask(tr("Make it an output"), [this](EditDialog& dialog, const About& about, const Node& node) {
        dialog.setWindowTitle(
            tr("Return the value of %1").arg(toQString(nodeTitle(*about.model, node.id))));
        dialog.make = [step = editOf(EditKind::AddOutput, m_editor,
                                     {node.id, 0})]() -> Result<EditStep> { return step; };
    });
}

void EditActions::dropOutput()
{
    auto* dialog = newDialog(tr("Drop an output"), tr("Drop"));
    askOutputToDrop(*dialog, *m_editor.graph());
    dialog->open();
}

void EditActions::loadConstant()
{
    auto* dialog = newDialog(tr("Load a parameter, buffer or constant"), tr("Load"));
    askConstant(*dialog, m_editor, *m_editor.graph(), about().operators);
    dialog->open();
}

void EditActions::saveEdited()
{
    const GraphPtr model = m_workspace.document().model();
    const QFileInfo file(toQString(model->info().path));
    const QString path = QFileDialog::getSaveFileName(
        &m_window, tr("Save edited model"),
        file.dir().filePath(file.completeBaseName() + QStringLiteral(".edited.pt2")),
        tr("Exported programs (*.pt2)"));
    if (path.isEmpty())
        return;
    if (QFileInfo(path) == file) {
        m_messages.showMessage(
            MessageBar::Kind::Warning, tr("Not saved"),
            tr("The file is the model that the edits start from; choose another name"));
        return;
    }
    m_workspace.pipeline().jobs().run(
        Lane::Engine, QStringLiteral("saveEdited"),
        [engine = &m_workspace.pipeline().engine(), model, recipe = m_workspace.document().recipe(),
         settings = m_workspace.document().settings(), target = path.toStdString()](
            JobContext& job) { return engine->saveModel(model, recipe, settings, target, job); },
        this,
        [this, path](Result<void> saved) {
            if (!saved)
                m_messages.showError(tr("Saving the edited model"), saved.error());
            else
                m_messages.showMessage(MessageBar::Kind::Note, tr("Saved"), path);
        });
}

} // namespace qs
