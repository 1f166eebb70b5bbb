// SPDX-License-Identifier: Apache-2.0
#include "engine/execute/control/higher_order.h"

#include "engine/execute/control/recurrence.h"
#include "engine/execute/control/subgraph_values.h"
#include "engine/execute/op_table.h"
#include "engine/graph/operators/engine_ops.h"

#include <ATen/autocast_mode.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/clone.h>
#include <ATen/ops/stack.h>
#include <c10/core/ScalarType.h>

#include <algorithm>
#include <iterator>

namespace qs {

namespace {

using Values = std::vector<at::IValue>;

Values listOf(const at::IValue& value)
{
    if (!value.isList())
        return {};
    const auto items = value.toListRef();
    return Values(items.begin(), items.end());
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

/// Slice `index` of every tensor, along the first dimension.
Values slicesAt(const Values& tensors, std::int64_t index)
{
    Values out;
    for (const at::IValue& tensor : tensors)
        out.push_back(tensor.toTensor().select(0, index));
    return out;
}

/// Number of iterations of a loop over the first dimension. Fails for 0, as in PyTorch.
Result<std::int64_t> roundsOver(const Node& node, const Values& tensors)
{
    std::int64_t rounds = 0;
    if (!tensors.empty() && tensors.front().isTensor() && tensors.front().toTensor().dim() > 0)
        rounds = tensors.front().toTensor().size(0);
    if (rounds == 0)
        return fail(ErrorCode::BadInput, node.target + " has nothing to go over");
    return rounds;
}

/// Appends the results of one iteration to the lists of each result.
void collect(std::vector<std::vector<at::Tensor>>& collected, const Values& made, std::size_t from)
{
    collected.resize(made.size() - from);
    for (std::size_t i = from; i < made.size(); ++i)
        collected[i - from].push_back(made[i].toTensor());
}

/// Arguments: (subgraph, tensors to iterate over, further operands).
Result<Values> runMap(const Node& node, const Values& args, const RunSubgraph& runSubgraph)
{
    if (args.size() < 2)
        return fail(ErrorCode::BadInput, "map needs a subgraph and what to go over");
    QS_TRY(const std::size_t body, subgraphIndex(node, args[0]));
    const Values over = listOf(args[1]);
    const Values extra = args.size() > 2 ? listOf(args[2]) : Values {};
    QS_TRY(const std::int64_t rounds, roundsOver(node, over));
    std::vector<std::vector<at::Tensor>> collected;
    for (std::int64_t i = 0; i < rounds; ++i) {
        Values operands = slicesAt(over, i);
        operands.insert(operands.end(), extra.begin(), extra.end());
        QS_TRY(const Values made, runSubgraph(body, std::move(operands)));
        collect(collected, made, 0);
    }
    Values out;
    for (const auto& tensors : collected)
        out.emplace_back(at::stack(tensors));
    return out;
}

/// Arguments: (subgraph, initial carried values, tensors to iterate over, further operands). The
/// subgraph returns the carried values, then the values to stack.
Result<Values> runScan(const Node& node, const Values& args, const RunSubgraph& runSubgraph)
{
    if (args.size() < 3)
        return fail(ErrorCode::BadInput, "scan needs a subgraph, a start and what to go over");
    QS_TRY(const std::size_t body, subgraphIndex(node, args[0]));
    Values carried = listOf(args[1]);
    const Values over = listOf(args[2]);
    const Values extra = args.size() > 3 ? listOf(args[3]) : Values {};
    QS_TRY(const std::int64_t rounds, roundsOver(node, over));
    const std::size_t kept = carried.size();
    std::vector<std::vector<at::Tensor>> collected;
    for (std::int64_t i = 0; i < rounds; ++i) {
        Values operands = std::move(carried);
        for (const Values& more : {slicesAt(over, i), extra})
            operands.insert(operands.end(), more.begin(), more.end());
        QS_TRY(const Values made, runSubgraph(body, std::move(operands)));
        if (made.size() < kept)
            return fail(ErrorCode::BadInput, "scan's subgraph returns too little");
        carried.assign(made.begin(), made.begin() + std::ptrdiff_t(kept));
        collect(collected, made, kept);
    }
    for (const auto& tensors : collected)
        carried.emplace_back(at::stack(tensors));
    return carried;
}

/// Sets autocast for one device, as a region of the model requests; the destructor restores it.
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

/// Arguments: (device type, dtype, enabled, cache, subgraph, operands ...).
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

Result<Values> runRegion(const Node&, const Values& args, const RunSubgraph& runSubgraph)
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

/// Arguments: (operator, element type of the result, arguments ...). Converts the arguments to a
/// type wide enough for the result.
Result<Values> runOutDtype(const Node&, const Values& args, const RunSubgraph&)
{
    constexpr std::string_view kOps = "torch.ops.";
    if (args.size() < 2 || !args[0].isString() || !args[1].isInt())
        return fail(ErrorCode::BadInput, "out_dtype lacks its arguments");
    std::string_view name = args[0].toStringRef();
    if (name.starts_with(kOps))
        name.remove_prefix(kOps.size());
    const auto op = findOperator(name);
    if (!op || op->schema().arguments().size() < args.size() - 2)
        return fail(ErrorCode::Unsupported,
                    "operator '" + std::string(name) + "' is unknown to this LibTorch");
    const auto wanted = at::ScalarType(args[1].toInt());
    at::ScalarType common = wanted;
    for (std::size_t i = 2; i < args.size(); ++i)
        if (args[i].isTensor())
            common = c10::promoteTypes(common, args[i].toTensor().scalar_type());
    torch::jit::Stack stack;
    for (std::size_t i = 2; i < args.size(); ++i)
        stack.push_back(args[i].isTensor() ? at::IValue(args[i].toTensor().to(common)) : args[i]);
    for (std::size_t i = stack.size(); i < op->schema().arguments().size(); ++i)
        stack.push_back(op->schema().arguments()[i].default_value().value_or(at::IValue()));
    op->callBoxed(stack);
    return Values {at::IValue(stack.at(0).toTensor().to(wanted))};
}

Result<Values> runRecurrenceNode(const Node&, const Values& args, const RunSubgraph& runSubgraph)
{
    return runRecurrence(args, runSubgraph);
}

Result<Values> runWholeNode(const Node&, const Values& args, const RunSubgraph& runSubgraph)
{
    return runWhole(args, runSubgraph);
}

struct Runner
{
    std::string_view target;
    Result<Values> (*run)(const Node&, const Values&, const RunSubgraph&);
};
constexpr Runner kRunners[] = {
    {kRegionTarget, runRegion},
    {"higher_order.cond", runCond},
    {"higher_order.while_loop", runWhile},
    {"higher_order.map_impl", runMap},
    {"higher_order.scan", runScan},
    {"higher_order.wrap_with_autocast", runAutocast},
    {"higher_order.out_dtype", runOutDtype},
    {kRecurTarget, runRecurrenceNode},
    {kModuleTarget, runWholeNode},
};

} // namespace

bool isHigherOrder(std::string_view target)
{
    return std::any_of(std::begin(kRunners), std::end(kRunners),
                       [&](const Runner& runner) { return runner.target == target; });
}

Result<Values> runHigherOrder(const Node& node, const Values& args, const RunSubgraph& runSubgraph)
{
    for (const Runner& runner : kRunners)
        if (runner.target == node.target)
            return runner.run(node, args, runSubgraph);
    return fail(ErrorCode::Internal, node.target + " is not one that runs subgraphs");
}

} // namespace qs
