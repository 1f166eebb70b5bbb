// SPDX-License-Identifier: Apache-2.0
#include "engine/configure/edit_step.h"

#include "engine/configure/edit_text.h"
#include "engine/configure/json/edit_step_json.h"
#include "engine/graph/operators/operator_name.h"

#include <array>

namespace qs {

std::string_view editKindName(EditKind kind)
{
    static constexpr std::array<std::string_view, 14> kNames {
        "insert", "remove",   "replace",    "replace_every", "set",  "rewire",  "duplicate",
        "rename", "constant", "add_output", "drop_output",   "fold", "extract", "as_float32"};
    return kNames.at(std::size_t(kind));
}

std::string_view editFormName(EditForm form)
{
    static constexpr std::array<std::string_view, 3> kNames {"float", "reference", "lowered"};
    return kNames.at(std::size_t(form));
}

std::string addressText(const ValueAddress& address)
{
    using Kind = ValueAddress::Kind;
    std::string text;
    switch (address.kind) {
    case Kind::None:
        return "the model";
    case Kind::This:
        return "this value";
    case Kind::Input:
        return "input " + address.name;
    case Kind::Stored:
        return address.name;
    case Kind::Added:
        text = address.name;
        break;
    case Kind::Operator:
        text = (address.module.empty() ? "" : address.module + " · ") + shortOpName(address.op);
        if (address.index > 0)
            text += " " + std::to_string(address.index + 1);
        break;
    }
    if (address.output > 0)
        text += ", value " + std::to_string(address.output);
    return text;
}

std::string addressText(const ValueAddress& address, const OperatorNames& names)
{
    using Kind = ValueAddress::Kind;
    const bool isOperator = address.kind == Kind::Operator || address.kind == Kind::Added;
    const std::string name = isOperator && names ? names(address) : std::string();
    if (name.empty())
        return addressText(address);
    return name + (address.output > 0 ? ", value " + std::to_string(address.output) : "");
}

namespace {

std::string readerText(const ReaderAddress& reader, const OperatorNames& names)
{
    if (reader.node.kind == ValueAddress::Kind::None)
        return "output " + std::to_string(reader.item) + " of the model";
    const std::string item = reader.item < 0 ? "" : "[" + std::to_string(reader.item) + "]";
    return addressText(reader.node, names) + " (" + reader.argument + item + ")";
}

} // namespace

std::string readersText(const std::vector<ReaderAddress>& readers, const OperatorNames& names)
{
    if (isNobody(readers))
        return ", without a reader yet";
    std::string text;
    for (const ReaderAddress& reader : readers)
        text += (text.empty() ? " for " : ", ") + readerText(reader, names);
    return text;
}

namespace {

std::string inModule(const std::string& within)
{
    return within.empty() ? "" : " in " + within;
}

std::string wordsOf(const EditStep& step, const OperatorNames& names)
{
    const std::string at = addressText(step.at, names);
    switch (step.kind) {
    case EditKind::Insert:
        return "insert " + step.op + " after " + at + readersText(step.readers, names);
    case EditKind::Remove:
        return "remove " + at;
    case EditKind::Replace:
        return "replace " + at + " by " + step.op;
    case EditKind::ReplaceEvery:
        return "replace every " + step.every + inModule(step.within) + " by " + step.op;
    case EditKind::Set:
        return "set arguments of " + at + ": " + step.json;
    case EditKind::Rewire:
        return "feed " + readerText({step.at, step.argument, step.item}, names) + " from "
            + addressText(step.to, names);
    case EditKind::Duplicate:
        return "duplicate " + at + readersText(step.readers, names);
    case EditKind::Rename:
        return "rename " + at + " to " + step.name;
    case EditKind::Constant:
        return "set " + at + (step.file.empty() ? "" : " from " + step.file);
    case EditKind::AddOutput:
        return "make " + at + " an output";
    case EditKind::DropOutput:
        return "drop output " + std::to_string(step.item);
    case EditKind::Fold:
        return "fold constants" + inModule(step.within);
    case EditKind::AsFloat32:
        return "take float16 and bfloat16 as float32";
    case EditKind::Extract:
        return "keep " + std::to_string(step.nodes.size())
            + (step.nodes.size() == 1 ? " operator alone" : " operators alone");
    }
    return {};
}

} // namespace

std::string editText(const EditStep& step, const OperatorNames& names)
{
    const std::string text = wordsOf(step, names);
    if (step.form == EditForm::Float)
        return text;
    return text + ", in the " + std::string(editFormName(step.form)) + " form";
}

std::string editText(const EditStep& step)
{
    return editText(step, OperatorNames());
}

} // namespace qs
