// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/edit/edit_actions.h"

#include "engine/base/sha256.h"
#include "engine/graph/operators/class_parts.h"
#include "engine/graph/text/graph_printer.h"
#include "ui/edit/insert_dialogs.h"
#include "ui/edit/part_actions.h"
#include "ui/edit/rewire_drag.h"
#include "ui/frame/actions.h"
#include "ui/frame/message_bar.h"
#include "ui/graph/view/graph_view.h"
#include "ui/session/text.h"

#include <QAction>
#include <QDir>
#include <QFileDialog>
#include <QFileInfo>

namespace qs {

namespace {

constexpr ActionId kNodeActions[] = {
    ActionId::InsertAfter,  ActionId::InsertOnInput, ActionId::RemoveNode,  ActionId::ReplaceNode,
    ActionId::ReplaceEvery, ActionId::SetArguments,  ActionId::RewireInput, ActionId::DuplicateNode,
    ActionId::RenameNode,   ActionId::MakeOutput};

/// The node's literal arguments as JSON, by name.
QHash<QString, QString> literalsOf(const Graph& graph, const Node& node)
{
    QHash<QString, QString> out;
    for (const NamedArgument& argument : node.args) {
        bool reads = false;
        forEachRef(argument.value, [&](ValueRef) { reads = true; });
        if (!reads && !argument.value.isNone())
            out[toQString(argument.name)] = toQString(printArgument(graph, argument.value));
    }
    return out;
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
    const auto on = [&](ActionId id, auto&& handler) {
        connect(&m_actions[id], &QAction::triggered, this, handler);
    };
    on(ActionId::InsertAfter, [this] { insert(); });
    on(ActionId::InsertOnInput, [this] { insertOnInput(); });
    on(ActionId::RemoveNode, [this] { remove(); });
    on(ActionId::ReplaceNode, [this] { replace(false); });
    on(ActionId::ReplaceEvery, [this] { replace(true); });
    on(ActionId::SetArguments, [this] { setArguments(); });
    on(ActionId::RewireInput, [this] { rewire(); });
    on(ActionId::DuplicateNode, [this] { duplicate(); });
    on(ActionId::RenameNode, [this] { rename(); });
    on(ActionId::MakeOutput, [this] { make(about(EditKind::AddOutput)); });
    on(ActionId::DropOutput, [this] { dropOutput(); });
    on(ActionId::LoadConstant, [this] { loadConstant(); });
    on(ActionId::FoldConstants, [this] { make(about(EditKind::Fold)); });
    on(ActionId::SaveEdited, [this] { saveEdited(); });
    connect(&workspace.selection(), &Selection::changed, this, &EditActions::refresh);
    connect(&workspace, &Workspace::treeChanged, this, &EditActions::refresh);
    refresh();
    new PartActions(actions, workspace, editor, messages, window, this);
}

void EditActions::takeDrags(GraphView& view)
{
    auto* drag = new RewireDrag(view, m_workspace, m_editor, &view);
    connect(drag, &RewireDrag::wanted, this, &EditActions::make);
    connect(drag, &RewireDrag::refused, this, [this](const QString& why) {
        m_messages.showMessage(MessageBar::Kind::Warning, tr("Not fed"), why);
    });
}

const Node* EditActions::selected() const
{
    const GraphPtr& model = m_workspace.document().model();
    const Selection& selection = m_workspace.selection();
    if (!model || selection.isModule() || selection.nodes().empty())
        return nullptr;
    const Node* node = model->tryGet(selection.nodes().back());
    return node && node->isOperator() ? node : nullptr;
}

EditStep EditActions::about(EditKind kind) const
{
    EditStep step;
    step.kind = kind;
    if (const Node* node = selected())
        step.at = m_editor.addressOf({node->id, 0});
    return step;
}

void EditActions::refresh()
{
    const bool open = m_workspace.document().model() != nullptr;
    const bool node = selected() != nullptr;
    for (const ActionId id : kNodeActions)
        m_actions[id].setEnabled(node);
    for (const ActionId id :
         {ActionId::DropOutput, ActionId::LoadConstant, ActionId::FoldConstants})
        m_actions[id].setEnabled(open);
}

void EditActions::make(const EditStep& step)
{
    m_editor.attempt(step, [this, text = toQString(editText(step))](const QString& problem) {
        if (!problem.isEmpty())
            m_messages.showMessage(MessageBar::Kind::Warning, tr("Not done: %1").arg(text),
                                   problem);
    });
}

EditDialog* EditActions::newDialog(const QString& title, const QString& ok)
{
    auto* dialog = new EditDialog(m_editor, m_workspace.pipeline().engine(), title, ok, &m_window);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    return dialog;
}

void EditActions::insert()
{
    const Node* node = selected();
    if (!node)
        return;
    auto* dialog = newDialog(tr("Insert after %1").arg(toQString(node->name)), tr("Insert"));
    askInsertAfter(*dialog, m_editor, *m_workspace.document().model(), *node);
    dialog->open();
}

void EditActions::insertOnInput()
{
    const Node* node = selected();
    if (!node || m_editor.inputsOf(node->id).empty())
        return;
    auto* dialog = newDialog(tr("Insert before %1").arg(toQString(node->name)), tr("Insert"));
    askInsertOnInput(*dialog, m_editor, *m_workspace.document().model(), *node);
    dialog->open();
}

void EditActions::remove()
{
    if (selected())
        make(about(EditKind::Remove));
}

void EditActions::replace(bool every)
{
    const Node* node = selected();
    if (!node)
        return;
    const QString what
        = every ? tr("every %1").arg(toQString(wholeTarget(node->target))) : toQString(node->name);
    auto* dialog = newDialog(tr("Replace %1").arg(what), tr("Replace"));
    dialog->askOperator(wholeTarget(node->target), false, {});
    QStringList where {tr("in the whole model")};
    std::vector<std::string> modules {""};
    for (std::string path = node->scope.path; every && !path.empty();
         path = ModuleTree::parentPath(path)) {
        where << tr("in %1").arg(toQString(path));
        modules.push_back(path);
    }
    if (every)
        dialog->askChoice(tr("&Where"), where);
    EditStep step = about(every ? EditKind::ReplaceEvery : EditKind::Replace);
    if (every) {
        step.at = {};
        step.every = wholeTarget(node->target);
    }
    dialog->make = [dialog, step, modules, every]() mutable -> Result<EditStep> {
        step.op = dialog->target();
        QS_TRY(step.json, dialog->arguments());
        if (every)
            step.within = modules.at(std::size_t(dialog->choice()));
        return step;
    };
    dialog->open();
}

void EditActions::setArguments()
{
    const Node* node = selected();
    if (!node)
        return;
    auto* dialog = newDialog(tr("Arguments of %1").arg(toQString(node->name)), tr("Set"));
    dialog->askOperator(wholeTarget(node->target), true,
                        literalsOf(*m_workspace.document().model(), *node));
    // The same operator with other literals: what is not said stays.
    dialog->make = [dialog, step = about(EditKind::Set)]() mutable -> Result<EditStep> {
        QS_TRY(step.json, dialog->arguments());
        if (step.json.empty())
            return fail(
                makeError(ErrorCode::BadInput, tr("no argument was changed").toStdString()));
        return step;
    };
    dialog->open();
}

void EditActions::rewire()
{
    const Node* node = selected();
    const auto inputs = node ? m_editor.inputsOf(node->id) : std::vector<GraphEditor::Reader>();
    if (inputs.empty())
        return;
    auto* dialog = newDialog(tr("Feed an input of %1").arg(toQString(node->name)), tr("Feed"));
    dialog->askInputs(inputs);
    QStringList names;
    for (const NodePtr& other : m_workspace.document().model()->nodes())
        for (const Value& value : other->outputs)
            names << toQString(value.name);
    dialog->askChoice(tr("&From"), names, true);
    dialog->make = [this, dialog, inputs]() -> Result<EditStep> {
        EditStep step;
        step.kind = EditKind::Rewire;
        const ReaderAddress& reader = inputs.at(std::size_t(dialog->input())).address;
        step.at = reader.node;
        step.argument = reader.argument;
        step.item = reader.item;
        const QString wanted = dialog->chosenText();
        for (const NodePtr& other : m_workspace.document().model()->nodes())
            for (std::uint32_t i = 0; i < other->outputs.size(); ++i)
                if (toQString(other->outputs[i].name) == wanted)
                    step.to = m_editor.addressOf({other->id, i});
        if (step.to.kind == ValueAddress::Kind::None)
            return fail(makeError(ErrorCode::NotFound,
                                  tr("there is no value '%1'").arg(wanted).toStdString()));
        return step;
    };
    dialog->open();
}

void EditActions::duplicate()
{
    const Node* node = selected();
    const auto readers
        = node ? m_editor.readersOf({node->id, 0}) : std::vector<GraphEditor::Reader>();
    if (readers.empty())
        return;
    auto* dialog = newDialog(tr("Duplicate %1").arg(toQString(node->name)), tr("Duplicate"));
    QStringList texts;
    for (const auto& reader : readers)
        texts << reader.text;
    dialog->askChoice(tr("The copy is &read by"), texts);
    dialog->askName(m_editor.freeName(node->target));
    dialog->make
        = [dialog, readers, step = about(EditKind::Duplicate)]() mutable -> Result<EditStep> {
        step.name = dialog->name();
        step.readers = {readers.at(std::size_t(dialog->choice())).address};
        return step;
    };
    dialog->open();
}

void EditActions::rename()
{
    const Node* node = selected();
    if (!node)
        return;
    auto* dialog = newDialog(tr("Rename %1").arg(toQString(node->name)), tr("Rename"));
    dialog->askName(node->name);
    dialog->make = [dialog, step = about(EditKind::Rename)]() mutable -> Result<EditStep> {
        step.name = dialog->name();
        return step;
    };
    dialog->open();
}

void EditActions::dropOutput()
{
    const GraphPtr& model = m_workspace.document().model();
    auto* dialog = newDialog(tr("Drop an output"), tr("Drop"));
    QStringList names;
    for (const NamedArgument& argument : model->output().args) {
        const ValueRef* ref = argument.value.asRef();
        names << (ref ? toQString(model->value(*ref).name) : tr("a constant"));
    }
    dialog->askChoice(tr("&Output"), names);
    dialog->make = [dialog]() -> Result<EditStep> {
        EditStep step;
        step.kind = EditKind::DropOutput;
        step.item = dialog->choice();
        return step;
    };
    dialog->open();
}

void EditActions::loadConstant()
{
    const GraphPtr& model = m_workspace.document().model();
    auto* dialog = newDialog(tr("Load a parameter, buffer or constant"), tr("Load"));
    QStringList names;
    std::vector<ValueAddress> stored;
    const Node* node = selected();
    const auto add = [&](const Node& one) {
        names << QStringLiteral("%1, %2").arg(toQString(one.target.empty() ? one.name : one.target),
                                              toQString(one.outputs.at(0).type.text()));
        stored.push_back(m_editor.addressOf({one.id, 0}));
    };
    if (node) // its own first
        for (const NamedArgument& argument : node->args)
            forEachRef(argument.value, [&](ValueRef ref) {
                if (const Node& read = model->get(ref.node); read.isStored())
                    add(read);
            });
    for (const NodePtr& one : model->nodes())
        if (one->isStored() && m_editor.addressOf({one->id, 0}).kind == ValueAddress::Kind::Stored)
            add(*one);
    dialog->askChoice(tr("&Tensor"), names, true);
    dialog->askFile(tr("&File"), tr("NumPy arrays (*.npy)"));
    dialog->make = [dialog, stored]() -> Result<EditStep> {
        EditStep step;
        step.kind = EditKind::Constant;
        if (dialog->choice() < 0)
            return fail(
                makeError(ErrorCode::NotFound,
                          tr("there is no tensor '%1'").arg(dialog->chosenText()).toStdString()));
        step.at = stored.at(std::size_t(dialog->choice()));
        step.file = dialog->file();
        QS_TRY(step.sha256, fileSha256(step.file));
        return step;
    };
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
