// SPDX-License-Identifier: Apache-2.0
#include "engine/execute/control/script_control.h"

#include "engine/execute/control/subgraph_values.h"
#include "engine/graph/operators/common_targets.h"

#include <ATen/core/Dict.h>
#include <ATen/core/List.h>
#include <ATen/core/Tensor.h>

namespace qs {

namespace {

using Values = std::vector<at::IValue>;

Values itemsOf(const at::IValue& value)
{
    if (value.isTuple())
        return value.toTupleRef().elements().vec();
    if (!value.isList())
        return {};
    const auto items = value.toListRef();
    return Values(items.begin(), items.end());
}

std::int64_t wholeNumber(const at::IValue& value)
{
    return value.isTensor() ? value.toTensor().item().toLong() : value.toInt();
}

Result<Values> runIf(const Node& node, const Values& args, const RunSubgraph& runSubgraph)
{
    if (args.size() != 5)
        return fail(ErrorCode::BadInput, "a branch lacks its arguments");
    const std::size_t taken = isTrue(args[0]) ? 0 : 1;
    QS_TRY(const std::size_t graph, subgraphIndex(node, args[1 + taken]));
    return runSubgraph(graph, itemsOf(args[3 + taken]));
}

Result<Values> runLoop(const Node& node, const Values& args, const RunSubgraph& runSubgraph)
{
    if (args.size() != 5)
        return fail(ErrorCode::BadInput, "a loop lacks its arguments");
    QS_TRY(const std::size_t body, subgraphIndex(node, args[2]));
    const std::int64_t trips = wholeNumber(args[0]);
    bool go = isTrue(args[1]);
    Values carried = itemsOf(args[3]);
    const Values operands = itemsOf(args[4]);
    for (std::int64_t i = 0; go && i < trips; ++i) {
        Values inputs {at::IValue(i)};
        inputs.insert(inputs.end(), carried.begin(), carried.end());
        inputs.insert(inputs.end(), operands.begin(), operands.end());
        QS_TRY(Values made, runSubgraph(body, std::move(inputs)));
        if (made.size() != carried.size() + 1)
            return fail(ErrorCode::Internal, "a loop's body returns a wrong number of values");
        go = isTrue(made.front());
        carried.assign(made.begin() + 1, made.end());
    }
    return carried;
}

at::IValue makeList(const Values& items, const std::string& type)
{
    c10::impl::GenericList list(scriptElementType(type));
    for (const at::IValue& item : items)
        list.push_back(item);
    return at::IValue(list);
}

Result<at::IValue> makeDict(const Values& values, const Values& keys)
{
    if (keys.empty() || keys.size() != values.size())
        return fail(ErrorCode::BadInput, "a dict lacks its keys");
    c10::impl::GenericDict dict(keys.front().type(), values.front().type());
    for (std::size_t i = 0; i < keys.size(); ++i)
        dict.insert_or_assign(keys[i], values[i]);
    return at::IValue(dict);
}

} // namespace

c10::TypePtr scriptElementType(const std::string& name)
{
    if (name == "Tensor")
        return c10::TensorType::get();
    if (name == "int")
        return c10::IntType::get();
    if (name == "float")
        return c10::FloatType::get();
    if (name == "bool")
        return c10::BoolType::get();
    if (name == "str")
        return c10::StringType::get();
    if (name == "Optional[Tensor]")
        return c10::OptionalType::ofTensor();
    return c10::AnyType::get();
}

bool isScriptControl(std::string_view target)
{
    return target == kIfTarget || target == kLoopTarget || target == kRaiseTarget
        || target == kScriptTupleTarget || target == kScriptListTarget
        || target == kScriptDictTarget || target == kScriptUnpackTarget
        || target == kScriptIndexTarget;
}

Result<Values> runScriptControl(const Node& node, const Values& args,
                                const RunSubgraph& runSubgraph)
{
    if (node.target == kIfTarget)
        return runIf(node, args, runSubgraph);
    if (node.target == kLoopTarget)
        return runLoop(node, args, runSubgraph);
    if (args.empty())
        return fail(ErrorCode::BadInput, node.target + " lacks its arguments");
    if (node.target == kRaiseTarget)
        return fail(ErrorCode::BadInput,
                    "the model raises: "
                        + (args[0].isString() ? args[0].toStringRef() : std::string("an error")));
    if (node.target == kScriptTupleTarget)
        return Values {c10::ivalue::Tuple::create(itemsOf(args[0]))};
    if (node.target == kScriptUnpackTarget)
        return itemsOf(args[0]);
    if (node.target == kScriptIndexTarget && args.size() == 2) {
        const Values items = itemsOf(args[0]);
        const std::int64_t at = wholeNumber(args[1]);
        const std::int64_t place = at < 0 ? at + std::int64_t(items.size()) : at;
        if (place < 0 || place >= std::int64_t(items.size()))
            return fail(ErrorCode::BadInput, "a tuple has no element " + std::to_string(at));
        return Values {items[std::size_t(place)]};
    }
    if (node.target == kScriptListTarget)
        return Values {makeList(itemsOf(args[0]),
                                args.size() > 1 && args[1].isString() ? args[1].toStringRef()
                                                                      : std::string())};
    QS_TRY(at::IValue dict,
           makeDict(itemsOf(args[0]), args.size() > 1 ? itemsOf(args[1]) : Values {}));
    return Values {std::move(dict)};
}

} // namespace qs
