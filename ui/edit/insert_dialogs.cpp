// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/edit/insert_dialogs.h"

#include "engine/configure/json/edit_step_json.h"
#include "engine/edit/way_back.h"
#include "engine/graph/operators/quantized_target.h"
#include "engine/graph/text/node_titles.h"
#include "ui/session/text.h"

namespace qs {

namespace {

constexpr auto kFirstOffered = "aten.relu.default";

/// Returns the edit, if requested with the inverse operator before the readers. `before`: dtype of
/// the value before the insertion.
Result<std::vector<EditStep>> withWayBack(const EditDialog& dialog, const GraphEditor& editor,
                                          const EditStep& step, DType before,
                                          const std::vector<ReaderAddress>& everyReader)
{
    if (!dialog.back() || isNobody(step.readers))
        return std::vector<EditStep> {step};
    const std::string target = isReferenceStep(step.op) ? "q.dequantize.d" : "q.back.d";
    return thereAndBack(step, before, step.readers.empty() ? everyReader : step.readers,
                        editor.freeName(target));
}

/// Asks for an insertion after the value; `reader`: index of the proposed reader, -1 for all.
void askInsert(EditDialog& dialog, GraphEditor& editor, const Graph& model, ValueRef value,
               const std::vector<GraphEditor::Reader>& readers, int reader)
{
    QStringList texts {QObject::tr("every reader"), QObject::tr("no reader yet")};
    std::vector<ReaderAddress> every;
    for (const auto& one : readers) {
        texts << one.text;
        every.push_back(one.address);
    }
    dialog.askOperator(kFirstOffered, false, {});
    dialog.askBack();
    dialog.askChoice(QObject::tr("&For"), texts);
    dialog.choose(reader < 0 ? 0 : reader + 2);
    dialog.askName(editor.freeName(kFirstOffered));
    EditStep about;
    about.at = editor.addressOf(value);
    dialog.make = [&dialog, every, about]() -> Result<EditStep> {
        EditStep step = about;
        step.op = dialog.target();
        step.name = dialog.name();
        QS_TRY(step.json, dialog.arguments());
        if (dialog.choice() == 1)
            step.readers = nobody();
        else if (dialog.choice() > 1)
            step.readers = {every[std::size_t(dialog.choice() - 2)]};
        return step;
    };
    dialog.complete
        = [&dialog, &editor, every, before = model.value(value).type.dtype](const EditStep& step) {
              return withWayBack(dialog, editor, step, before, every);
          };
}

} // namespace

void askInsertAfter(EditDialog& dialog, GraphEditor& editor, const Graph& model, const Node& node)
{
    dialog.setWindowTitle(QObject::tr("Insert after %1").arg(toQString(nodeTitle(model, node.id))));
    const ValueRef value {node.id, 0};
    askInsert(dialog, editor, model, value, editor.readersOf(value), -1);
}

void askInsertOnEdge(EditDialog& dialog, GraphEditor& editor, const Graph& model, const Edge& edge)
{
    const auto readers = editor.readersOf(edge.value);
    const int place = editor.placeOf(readers, edge);
    dialog.setWindowTitle(QObject::tr("Insert between %1 and %2")
                              .arg(toQString(nodeTitle(model, edge.value.node)),
                                   toQString(nodeTitle(model, edge.reader.node))));
    askInsert(dialog, editor, model, edge.value, readers, place);
}

void askInsertOnInput(EditDialog& dialog, GraphEditor& editor, const Graph& model, const Node& node)
{
    dialog.setWindowTitle(
        QObject::tr("Insert before %1").arg(toQString(nodeTitle(model, node.id))));
    const auto inputs = editor.inputsOf(node.id);
    QStringList texts;
    for (const auto& input : inputs)
        texts << input.text;
    std::vector<ValueRef> values;
    for (const NamedArgument& argument : node.args)
        forEachRef(argument.value, [&](ValueRef ref) { values.push_back(ref); });
    std::vector<ValueAddress> addresses;
    std::vector<DType> types;
    for (const ValueRef value : values) {
        addresses.push_back(editor.addressOf(value));
        types.push_back(model.value(value).type.dtype);
    }
    dialog.askOperator(kFirstOffered, false, {});
    dialog.askBack();
    dialog.askChoice(QObject::tr("On the inpu&t"), texts);
    dialog.askName(editor.freeName(kFirstOffered));
    dialog.make = [&dialog, inputs, addresses]() -> Result<EditStep> {
        if (inputs.empty())
            return fail(makeError(ErrorCode::NotFound,
                                  QObject::tr("the operator has no inputs").toStdString()));
        EditStep step;
        const auto at = std::size_t(dialog.choice());
        step.at = addresses.at(at);
        step.readers = {inputs.at(at).address};
        step.op = dialog.target();
        step.name = dialog.name();
        QS_TRY(step.json, dialog.arguments());
        return step;
    };
    dialog.complete = [&dialog, &editor, types](const EditStep& step) {
        return withWayBack(dialog, editor, step, types.at(std::size_t(dialog.choice())), {});
    };
}

} // namespace qs
