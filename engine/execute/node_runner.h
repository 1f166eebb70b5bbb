// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/execute/layout.h"
#include "engine/execute/value_conversion.h"
#include "engine/graph/node.h"

#include <ATen/core/dispatch/Dispatcher.h>

#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace qs {

struct ScriptOperator;

/// The resolved call of a node, made once per node.
struct NodeCall
{
    std::optional<c10::OperatorHandle> op;
    const ScriptOperator* script = nullptr; ///< where TorchScript alone has the operator
    std::optional<c10::OperatorHandle> inPlace; ///< writes the same over its first argument
    std::vector<int> slots; ///< for each schema argument the node's argument, or -1 = the default
    /// For operators without tensor arguments: the schema's argument with the device of the result.
    /// -1 = not needed.
    int deviceSlot = -1;
    bool draws = false; ///< `drawsNumbers`
    std::string problem; ///< why the node cannot run; empty when it can
    /// Of an operator that `trustsArguments`: whether it is still to be tried in a copy of the
    /// process before it runs here. Null for all others. Copies of the call share it.
    std::shared_ptr<bool> untried;
};

/// The schema of the operator to call; null without one.
const c10::FunctionSchema* schemaOf(const NodeCall& call);

/// Finds the operator and matches the node's arguments with its schema, by name, else by position.
/// Views are copies where strides that the model was not made with may allow none: in another
/// layout than given, and on a GPU, whose kernels (attention) lay out their results as they like.
NodeCall prepareCall(const Node& node, Layout layout = Layout::AsGiven,
                     at::Device device = at::kCPU);

/// Runs one of the node's subgraphs on the given inputs.
using RunSubgraph
    = std::function<Result<std::vector<at::IValue>>(std::size_t index, std::vector<at::IValue>)>;

/// The device of a node's run and the source of its operands.
struct CallContext
{
    at::Device device;
    const ReadValue& read;
    const RunSubgraph& runSubgraph;
    bool overwrite = false; ///< the first argument's memory may take the result
    std::string_view place = {}; ///< of the node's graph (`bodyPlace`)
};

/// Runs one Op node; the values in the order of its outputs, list results flattened. Errors name
/// the node. What draws random numbers does so on the CPU, from contiguous tensors, after
/// `SeededDraws`: the same numbers in each form.
Result<std::vector<at::IValue>> runCall(const Node& node, const NodeCall& call,
                                        const CallContext& context);

} // namespace qs
