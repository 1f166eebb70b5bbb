// SPDX-License-Identifier: Apache-2.0
#include "engine/execute/op_table.h"

#include "engine/graph/operators/operator_name.h"
#include "engine/graph/operators/operators.h"

#include <algorithm>
#include <array>

namespace qs {

c10::OperatorName operatorName(std::string_view target)
{
    const OperatorParts parts = operatorParts(target);
    if (parts.overload.empty())
        return {"", ""};
    return {std::string(parts.space) + "::" + std::string(parts.word),
            std::string(parts.overload == "default" ? "" : parts.overload)};
}

std::optional<c10::OperatorHandle> findOperator(std::string_view target)
{
    const c10::OperatorName name = operatorName(target);
    if (name.name.empty())
        return std::nullopt;
    return c10::Dispatcher::singleton().findSchema(name);
}

std::string targetOf(const c10::OperatorName& name)
{
    std::string target = name.name;
    if (const auto colons = target.find("::"); colons != std::string::npos)
        target.replace(colons, 2, ".");
    return target + "." + (name.overload_name.empty() ? "default" : name.overload_name);
}

bool mutatesArguments(const c10::FunctionSchema& schema)
{
    for (const auto& argument : schema.arguments())
        if (argument.alias_info() && argument.alias_info()->isWrite())
            return true;
    return false;
}

bool isForbiddenOperator(std::string_view target)
{
    static constexpr std::array<std::string_view, 7> kForbidden {
        "c10d.",     "_c10d",          "profiler.",      "inductor.",
        "symm_mem.", "dist_autograd.", "static_runtime."};
    return hasTrait(target, OperatorTrait::Forbidden)
        || std::any_of(kForbidden.begin(), kForbidden.end(),
                       [&](std::string_view name) { return target.starts_with(name); });
}

bool trustsArguments(const c10::OperatorHandle& op)
{
    const std::string_view full = op.operator_name().name;
    constexpr std::string_view kNamespace = "aten::";
    if (!full.starts_with(kNamespace) || op.hasTag(at::Tag::core))
        return false;
    const std::string_view name = full.substr(kNamespace.size());
    // Private operators that traces and decompositions contain often.
    static constexpr std::array<std::string_view, 12> kUsual {
        "_convolution", "_unsafe_view",  "_unsafe_index", "_shape_as_tensor",
        "_reshape_",    "_scaled_dot_",  "_native_batch", "_to_",
        "_assert_",     "_local_scalar", "_softmax",      "_log_softmax"};
    static constexpr std::array<std::string_view, 10> kInternal {
        "_",       "slow_", "quantized_", "align_",  "mkldnn_",
        "fbgemm_", "thnn_", "cudnn_",     "miopen_", "sparse_"};
    const auto begins = [name](std::string_view start) { return name.starts_with(start); };
    if (std::any_of(kUsual.begin(), kUsual.end(), begins))
        return false;
    return std::any_of(kInternal.begin(), kInternal.end(), begins)
        || name.find("backward") != std::string_view::npos || name.ends_with("_forward");
}

std::string operatorWithoutKernel(const Graph& graph, c10::DispatchKey key)
{
    for (const NodePtr& node : graph.nodes()) {
        const auto op = findOperator(node->target);
        if (op && op->hasComputedKernelForDispatchKey(c10::DispatchKey::CPU)
            && !op->hasComputedKernelForDispatchKey(key))
            return node->target;
        for (const GraphPtr& body : node->subgraphs)
            if (std::string found = operatorWithoutKernel(*body, key); !found.empty())
                return found;
    }
    return {};
}

bool isRandom(const c10::OperatorHandle& op)
{
    return op.hasTag(at::Tag::nondeterministic_seeded);
}

} // namespace qs
