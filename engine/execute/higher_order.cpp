// SPDX-License-Identifier: Apache-2.0
#include "engine/execute/higher_order.h"

#include "engine/execute/recurrence.h"

#include <ATen/autocast_mode.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/clone.h>

#include <charconv>

namespace qs {

namespace {

using Values = std::vector<at::IValue>;

constexpr std::string_view kAutocastTarget = "higher_order.wrap_with_autocast";

Result<std::size_t> subgraphIndex(const Node& node, const at::IValue& name)
{
    std::size_t index = 0;
    if (name.isString()) {
        const std::string& text = name.toStringRef();
        if (text.starts_with(kSubgraphPrefix)
            && std::from_chars(text.data() + kSubgraphPrefix.size(), text.data() + text.size(),
                               index)
                    .ec
                == std::errc()
            && index < node.subgraphs.size())
            return index;
    }
    return fail(ErrorCode::BadInput, node.target + " lacks a subgraph");
}

Values listOf(const at::IValue& value)
{
    if (!value.isList())
        return {};
    const auto items = value.toListRef();
    return Values(items.begin(), items.end());
}

bool isTrue(const at::IValue& value)
{
    return value.isBool() ? value.toBool()
        : value.isInt()   ? value.toInt() != 0
                          : value.toTensor().item().toBool();
}

Result<Values> runCond(const Node& node, const Values& args, const RunSubgraph& runSubgraph)
{
    if (args.size() < 3)
        return fail(ErrorCode::BadInput, "cond needs a predicate and two subgraphs");
    QS_TRY(const std::size_t branch, subgraphIndex(node, args[isTrue(args[0]) ? 1 : 2]));
    return runSubgraph(branch, args.size() > 3 ? listOf(args[3]) : Values {});
}

Result<Values> runWhile(const Node& node, const Values& args, const RunSubgraph& runSubgraph)
{
    if (args.size() < 3)
        return fail(ErrorCode::BadInput, "while_loop needs two subgraphs and its inputs");
    QS_TRY(const std::size_t condition, subgraphIndex(node, args[0]));
    QS_TRY(const std::size_t body, subgraphIndex(node, args[1]));
    Values carried = listOf(args[2]);
    const Values extra = args.size() > 3 ? listOf(args[3]) : Values {};
    for (;;) {
        Values operands = carried;
        operands.insert(operands.end(), extra.begin(), extra.end());
        QS_TRY(const Values go, runSubgraph(condition, operands));
        if (go.empty() || !isTrue(go.front()))
            return carried;
        QS_TRY(carried, runSubgraph(body, std::move(operands)));
    }
}

/// Autocast as a region of the model switches it, for one device; restored at the end of the scope.
class AutocastScope
{
public:
    AutocastScope(at::DeviceType device, at::ScalarType dtype, bool enabled)
        : m_device(device)
        , m_wasEnabled(at::autocast::is_autocast_enabled(device))
        , m_dtype(at::autocast::get_autocast_dtype(device))
    {
        at::autocast::increment_nesting();
        at::autocast::set_autocast_enabled(device, enabled);
        at::autocast::set_autocast_dtype(device, dtype);
    }
    ~AutocastScope()
    {
        if (at::autocast::decrement_nesting() == 0)
            at::autocast::clear_cache();
        at::autocast::set_autocast_enabled(m_device, m_wasEnabled);
        at::autocast::set_autocast_dtype(m_device, m_dtype);
    }
    AutocastScope(const AutocastScope&) = delete;
    AutocastScope& operator=(const AutocastScope&) = delete;

private:
    at::DeviceType m_device;
    bool m_wasEnabled;
    at::ScalarType m_dtype;
};

/// (device type, dtype, enabled, cache, subgraph, operands ...)
Result<Values> runAutocast(const Node& node, const Values& args, const RunSubgraph& runSubgraph)
{
    if (args.size() < 5 || !args[0].isString() || !args[2].isBool())
        return fail(ErrorCode::BadInput, "autocast lacks its arguments");
    QS_TRY(const std::size_t graph, subgraphIndex(node, args[4]));
    const at::DeviceType device = at::Device(args[0].toStringRef()).type();
    const at::ScalarType dtype = args[1].isInt() ? at::ScalarType(args[1].toInt())
                                                 : at::autocast::get_autocast_dtype(device);
    const AutocastScope scope(device, dtype, args[2].toBool());
    return runSubgraph(graph, Values(args.begin() + 5, args.end()));
}

Result<Values> runRegion(const Values& args, const RunSubgraph& runSubgraph)
{
    if (args.size() < 2)
        return fail(ErrorCode::Internal, "a region lacks its arguments");
    Values operands = listOf(args[0]);
    for (const at::IValue& position : listOf(args[1])) {
        at::IValue& operand = operands.at(std::size_t(position.toInt()));
        if (operand.isTensor())
            operand = at::clone(operand.toTensor());
    }
    return runSubgraph(0, std::move(operands));
}

} // namespace

bool isHigherOrder(std::string_view target)
{
    return target == kRegionTarget || target == kRecurTarget || target == kLstmTarget
        || target == "higher_order.cond" || target == "higher_order.while_loop"
        || target == kAutocastTarget;
}

Result<Values> runHigherOrder(const Node& node, const Values& args, const RunSubgraph& runSubgraph)
{
    if (node.target == kRegionTarget)
        return runRegion(args, runSubgraph);
    if (node.target == kRecurTarget)
        return runRecurrence(args, runSubgraph);
    if (node.target == kLstmTarget)
        return runWhole(args, runSubgraph);
    if (node.target == kAutocastTarget)
        return runAutocast(node, args, runSubgraph);
    return node.target == "higher_order.cond" ? runCond(node, args, runSubgraph)
                                              : runWhile(node, args, runSubgraph);
}

} // namespace qs
