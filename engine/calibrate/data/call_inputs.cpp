// SPDX-License-Identifier: Apache-2.0
#include "engine/calibrate/data/call_inputs.h"

#include "engine/base/text.h"
#include "engine/execute/interpreter.h"

#include <ATen/core/Dict.h>
#include <ATen/core/List.h>

#include <algorithm>

namespace qs {

namespace {

using Values = std::vector<at::IValue>;

Values elementsOf(const at::IValue& value)
{
    if (value.isTuple())
        return value.toTupleRef().elements().vec();
    return value.toListRef().vec();
}

const char* kindText(const at::IValue& value)
{
    return value.isTuple()   ? "a tuple"
        : value.isList()     ? "a list"
        : isContainer(value) ? "a dictionary"
                             : "a single value";
}

const char* kindText(const TreeSpec& spec)
{
    switch (spec.kind) {
    case TreeSpec::Kind::Leaf:
        return "a single value";
    case TreeSpec::Kind::Dict:
        return "a dictionary";
    case TreeSpec::Kind::List:
        return "a list";
    default:
        return "a tuple";
    }
}

const at::IValue* valueAt(const std::vector<std::pair<std::string, at::IValue>>& entries,
                          const std::string& key)
{
    const auto it = std::find_if(entries.begin(), entries.end(),
                                 [&](const auto& entry) { return entry.first == key; });
    return it == entries.end() ? nullptr : &it->second;
}

std::vector<std::pair<std::string, at::IValue>> entriesOf(const at::IValue& dictionary)
{
    std::vector<std::pair<std::string, at::IValue>> out;
    for (const auto& entry : dictionary.toGenericDict()) {
        const at::IValue& key = entry.key();
        out.emplace_back(key.isString()    ? key.toStringRef()
                             : key.isInt() ? std::to_string(key.toInt())
                                           : std::string(),
                         entry.value());
    }
    return out;
}

std::string quoted(const std::vector<std::string>& names)
{
    std::string out;
    for (const std::string& name : names)
        out += (out.empty() ? "'" : ", '") + name + "'";
    return out;
}

Error misfit(const std::string& where, const TreeSpec& spec, const std::string& given)
{
    std::string wanted = kindText(spec);
    if (!spec.keys.empty())
        wanted += " of " + quoted(spec.keys);
    else if (spec.kind != TreeSpec::Kind::Leaf)
        wanted += " of " + std::to_string(spec.children.size());
    return makeError(ErrorCode::BadInput, where + " is " + given + ", the model takes " + wanted);
}

Result<void> collect(const TreeSpec& spec, const at::IValue& value, const std::string& where,
                     Values& out)
{
    if (spec.kind == TreeSpec::Kind::Leaf) {
        if (isContainer(value))
            return fail(misfit(where, spec, kindText(value)));
        out.push_back(value);
        return {};
    }
    if (value.isGenericDict() && !spec.keys.empty()) {
        const auto entries = entriesOf(value);
        std::vector<std::string> given;
        for (const auto& entry : entries)
            given.push_back(entry.first);
        for (std::size_t i = 0; i < spec.children.size(); ++i) {
            const at::IValue* child = valueAt(entries, spec.keys[i]);
            if (!child || entries.size() != spec.keys.size())
                return fail(misfit(where, spec, "a dictionary of " + quoted(given)));
            QS_CHECK(collect(spec.children[i], *child, where + "['" + spec.keys[i] + "']", out));
        }
        return {};
    }
    if ((!value.isTuple() && !value.isList()) || spec.kind == TreeSpec::Kind::Dict)
        return fail(misfit(where, spec, kindText(value)));
    const Values elements = elementsOf(value);
    if (elements.size() != spec.children.size())
        return fail(misfit(
            where, spec, kindText(value) + std::string(" of ") + std::to_string(elements.size())));
    for (std::size_t i = 0; i < elements.size(); ++i)
        QS_CHECK(
            collect(spec.children[i], elements[i], where + "[" + std::to_string(i) + "]", out));
    return {};
}

/// True if a call passes the value that was fixed when the model was exported.
bool agrees(const at::IValue& given, const Argument& fixed)
{
    if (fixed.isNone() || given.isNone())
        return fixed.isNone() && given.isNone();
    if (fixed.asString() || given.isString())
        return fixed.asString() && given.isString() && *fixed.asString() == given.toStringRef();
    if (!given.isScalar())
        return false;
    const at::Scalar number = given.toScalar();
    return fixed.asBool() ? number.equal(*fixed.asBool())
        : fixed.asInt()   ? number.equal(*fixed.asInt())
                          : fixed.asDouble() && number.equal(*fixed.asDouble());
}

} // namespace

bool isContainer(const at::IValue& value)
{
    return value.isTuple() || value.isList() || value.isGenericDict();
}

Result<CallInputs> CallInputs::create(const Graph& graph)
{
    CallInputs out;
    QS_TRY(out.m_structure, modelStructure(graph));
    const auto inputs = graph.inputs();
    out.m_inputs.assign(inputs.begin(), inputs.end());
    return out;
}

std::string CallInputs::argumentText() const
{
    return quoted(m_structure.argumentNames);
}

bool CallInputs::takes(const at::IValue& dictionary) const
{
    const TreeSpec& args = m_structure.inputs.children[0];
    std::vector<std::string> given;
    for (auto& entry : entriesOf(dictionary))
        given.push_back(std::move(entry.first));
    const auto sameNames = [&](std::vector<std::string> names) {
        return std::is_permutation(names.begin(), names.end(), given.begin(), given.end());
    };
    return sameNames(m_structure.argumentNames)
        || (args.children.size() == 1 && args.children[0].kind == TreeSpec::Kind::Dict
            && m_structure.argumentNames.size() == 1 && sameNames(args.children[0].keys));
}

Result<Values> CallInputs::arguments(const at::IValue& call) const
{
    if (!isContainer(call))
        return Values {call};
    if (!call.isGenericDict())
        return elementsOf(call);
    if (!takes(call))
        return fail(ErrorCode::BadInput,
                    "is a dictionary whose keys are not the model's arguments (" + argumentText()
                        + ")");
    const auto entries = entriesOf(call);
    Values out;
    for (const std::string& name : m_structure.argumentNames) {
        const at::IValue* value = valueAt(entries, name);
        if (!value)
            return Values {call}; // the only argument
        out.push_back(*value);
    }
    return out;
}

Result<Values> CallInputs::spread(const Values& inputs) const
{
    if (inputs.size() != m_inputs.size())
        return inputs;
    Values all;
    for (const InputLeaf& leaf : m_structure.leaves) {
        const auto at = std::find(m_inputs.begin(), m_inputs.end(), leaf.node);
        if (at != m_inputs.end()) {
            all.push_back(inputs[std::size_t(at - m_inputs.begin())]);
            continue;
        }
        QS_TRY(at::IValue constant, toIValue(leaf.constant, Frame {}));
        all.push_back(std::move(constant));
    }
    return all;
}

Result<Values> CallInputs::inputsOf(const Graph& exported, const Values& inputs) const
{
    const std::size_t wanted = exported.inputs().size();
    if (wanted == inputs.size())
        return inputs;
    QS_TRY(Values all, spread(inputs));
    if (wanted == all.size())
        return all;
    return fail(makeError(ErrorCode::BadInput,
                          "it takes " + counted(std::int64_t(wanted), "input")
                              + ", the float model " + std::to_string(m_inputs.size()))
                    .inFile(exported.info().path)
                    .withHint("compare models of the same network"));
}

Result<Values> CallInputs::arrange(const at::IValue& call) const
{
    QS_TRY(const Values given, arguments(call));
    std::vector<const TreeSpec*> specs;
    for (const TreeSpec& side : m_structure.inputs.children)
        for (const TreeSpec& child : side.children)
            specs.push_back(&child);
    // If the model's structure is nested, a flat list contains its inputs in order. Else it
    // includes the values that the export fixed (None, a flag), which are skipped.
    const bool flat = std::none_of(given.begin(), given.end(), isContainer);
    const bool plain = std::all_of(specs.begin(), specs.end(), [](const TreeSpec* spec) {
        return spec->kind == TreeSpec::Kind::Leaf;
    });
    if (flat && (!plain || given.size() != specs.size()))
        return given;
    // A tuple may be the model's only argument instead of its arguments.
    if (given.size() != specs.size())
        return fail(ErrorCode::BadInput,
                    "holds " + std::to_string(given.size()) + " arguments, the model takes "
                        + std::to_string(specs.size()) + " (" + argumentText() + ")");
    Values all;
    for (std::size_t i = 0; i < specs.size(); ++i)
        QS_CHECK(
            collect(*specs[i], given[i], "argument '" + m_structure.argumentNames[i] + "'", all));
    Values out;
    for (std::size_t i = 0; i < all.size(); ++i)
        if (const InputLeaf& leaf = m_structure.leaves[i]; leaf.node)
            out.push_back(std::move(all[i]));
        else if (!agrees(all[i], leaf.constant))
            return fail(ErrorCode::BadInput,
                        "gives argument '" + (plain ? m_structure.argumentNames[i] : leaf.name)
                            + "' another value than the one that the model was exported with");
    return out;
}

} // namespace qs
