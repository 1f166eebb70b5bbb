// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/edit/operator_dialogs.h"

#include "engine/base/sha256.h"
#include "engine/edit/edit_titles.h"
#include "engine/graph/operators/class_parts.h"
#include "engine/graph/text/graph_printer.h"
#include "ui/session/text.h"

namespace qs {

namespace {

/// Returns the node's literal arguments as JSON, by name.
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

QString titleIn(const GraphEditor& editor, const Node& node)
{
    return toQString(nodeTitle(*editor.graph(), node.id));
}

EditStep stepAbout(EditKind kind, const GraphEditor& editor, const Node& node)
{
    EditStep step;
    step.kind = kind;
    step.at = editor.addressOf({node.id, 0});
    return step;
}

} // namespace

void askReplacement(EditDialog& dialog, GraphEditor& editor, const Node& node, bool every)
{
    dialog.setWindowTitle(
        QObject::tr("Replace %1")
            .arg(every ? QObject::tr("every %1").arg(toQString(wholeTarget(node.target)))
                       : titleIn(editor, node)));
    dialog.askOperator(wholeTarget(node.target), false, {});
    QStringList where {QObject::tr("in the whole model")};
    std::vector<std::string> modules {""};
    for (std::string path = node.scope.path; every && !path.empty();
         path = ModuleTree::parentPath(path)) {
        where << QObject::tr("in %1").arg(toQString(path));
        modules.push_back(path);
    }
    if (every)
        dialog.askChoice(QObject::tr("&Where"), where);
    EditStep step = stepAbout(every ? EditKind::ReplaceEvery : EditKind::Replace, editor, node);
    if (every) {
        step.at = {};
        step.every = wholeTarget(node.target);
    }
    dialog.make = [&dialog, step, modules, every]() mutable -> Result<EditStep> {
        step.op = dialog.target();
        QS_TRY(step.json, dialog.arguments());
        if (every)
            step.within = modules.at(std::size_t(dialog.choice()));
        return step;
    };
}

void askArguments(EditDialog& dialog, GraphEditor& editor, const Graph& model, const Node& node)
{
    dialog.setWindowTitle(QObject::tr("Arguments of %1").arg(titleIn(editor, node)));
    dialog.askOperator(wholeTarget(node.target), true, literalsOf(model, node));
    // The same operator with other literals; omitted ones stay.
    dialog.make
        = [&dialog, step = stepAbout(EditKind::Set, editor, node)]() mutable -> Result<EditStep> {
        QS_TRY(step.json, dialog.arguments());
        if (step.json.empty())
            return fail(makeError(ErrorCode::BadInput,
                                  QObject::tr("no argument was changed").toStdString()));
        return step;
    };
}

void askOtherInput(EditDialog& dialog, GraphEditor& editor, const GraphPtr& model, const Node& node,
                   const Edge* edge)
{
    const auto inputs = editor.inputsOf(node.id);
    dialog.setWindowTitle(QObject::tr("Feed an input of %1").arg(titleIn(editor, node)));
    dialog.askInputs(inputs, edge ? editor.placeOf(inputs, *edge) : 0);
    const NodeTitles titles(*model);
    QStringList names;
    std::vector<ValueRef> values;
    for (const NodePtr& other : model->nodes())
        for (std::uint32_t i = 0; i < other->outputs.size(); ++i) {
            values.push_back({other->id, i});
            names << toQString(valueTitle(titles, *model, values.back()));
        }
    dialog.askChoice(QObject::tr("&From"), names, true);
    dialog.make = [&dialog, &editor, model, inputs, values]() -> Result<EditStep> {
        if (inputs.empty())
            return fail(makeError(ErrorCode::NotFound,
                                  QObject::tr("the operator has no inputs").toStdString()));
        EditStep step;
        step.kind = EditKind::Rewire;
        const ReaderAddress& reader = inputs.at(std::size_t(dialog.input())).address;
        step.at = reader.node;
        step.argument = reader.argument;
        step.item = reader.item;
        const QString wanted = dialog.chosenText();
        const int chosen = dialog.choice();
        for (std::size_t i = 0; i < values.size(); ++i) // or a typed name of a value
            if (chosen < 0 ? toQString(model->value(values[i]).name) == wanted : chosen == int(i))
                step.to = editor.addressOf(values[i]);
        if (step.to.kind == ValueAddress::Kind::None)
            return fail(makeError(ErrorCode::NotFound,
                                  QObject::tr("there is no value '%1'").arg(wanted).toStdString()));
        return step;
    };
}

void askDuplicate(EditDialog& dialog, GraphEditor& editor, const Node& node, const Edge* edge)
{
    const auto readers = editor.readersOf({node.id, 0});
    dialog.setWindowTitle(QObject::tr("Duplicate %1").arg(titleIn(editor, node)));
    QStringList texts;
    for (const auto& reader : readers)
        texts << reader.text;
    dialog.askChoice(QObject::tr("The copy is &read by"), texts);
    if (edge)
        dialog.choose(editor.placeOf(readers, *edge));
    dialog.askName(editor.freeName(node.target));
    dialog.make
        = [&dialog, readers,
           step = stepAbout(EditKind::Duplicate, editor, node)]() mutable -> Result<EditStep> {
        if (readers.empty())
            return fail(makeError(ErrorCode::NotFound,
                                  QObject::tr("the operator has no readers").toStdString()));
        step.name = dialog.name();
        step.readers = {readers.at(std::size_t(dialog.choice())).address};
        return step;
    };
}

void askNewName(EditDialog& dialog, GraphEditor& editor, const Node& node)
{
    dialog.setWindowTitle(QObject::tr("Rename %1").arg(titleIn(editor, node)));
    dialog.askName(node.name);
    dialog.make = [&dialog,
                   step = stepAbout(EditKind::Rename, editor, node)]() mutable -> Result<EditStep> {
        step.name = dialog.name();
        return step;
    };
}

void askOutputToDrop(EditDialog& dialog, const Graph& model)
{
    const NodeTitles titles(model);
    QStringList names;
    for (const NamedArgument& argument : model.output().args) {
        const ValueRef* ref = argument.value.asRef();
        names << (ref ? toQString(valueTitle(titles, model, *ref)) : QObject::tr("a constant"));
    }
    dialog.askChoice(QObject::tr("&Output"), names);
    dialog.make = [&dialog]() -> Result<EditStep> {
        EditStep step;
        step.kind = EditKind::DropOutput;
        step.item = dialog.choice();
        return step;
    };
}

void askConstant(EditDialog& dialog, GraphEditor& editor, const Graph& model,
                 const std::vector<NodeId>& operators)
{
    QStringList names;
    std::vector<ValueAddress> stored;
    const auto add = [&](const Node& one) {
        names << QStringLiteral("%1, %2").arg(toQString(one.target.empty() ? one.name : one.target),
                                              toQString(one.outputs.at(0).type.text()));
        stored.push_back(editor.addressOf({one.id, 0}));
    };
    for (const NodeId id : operators) // tensors of these operators first
        for (const NamedArgument& argument : model.get(id).args)
            forEachRef(argument.value, [&](ValueRef ref) {
                if (const Node& read = model.get(ref.node); read.isStored())
                    add(read);
            });
    for (const NodePtr& one : model.nodes())
        if (one->isStored() && editor.addressOf({one->id, 0}).kind == ValueAddress::Kind::Stored)
            add(*one);
    dialog.askChoice(QObject::tr("&Tensor"), names, true);
    dialog.askFile(QObject::tr("&File"), QObject::tr("NumPy arrays (*.npy)"));
    dialog.make = [&dialog, stored]() -> Result<EditStep> {
        EditStep step;
        step.kind = EditKind::Constant;
        if (dialog.choice() < 0)
            return fail(makeError(
                ErrorCode::NotFound,
                QObject::tr("there is no tensor '%1'").arg(dialog.chosenText()).toStdString()));
        step.at = stored.at(std::size_t(dialog.choice()));
        step.file = dialog.file();
        QS_TRY(step.sha256, fileSha256(step.file));
        return step;
    };
}

} // namespace qs
