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
    const ScriptOperator* script = nullptr; ///< if only TorchScript has the operator
    std::optional<c10::OperatorHandle> inPlace; ///< writes the result to its first argument
    std::vector<int> slots; ///< for each schema argument the node's argument, or -1 = the default
    /// For operators without tensor arguments: the schema's argument with the device of the result.
    /// -1 = not needed.
    int deviceSlot = -1;
    bool draws = false; ///< `drawsNumbers`
    bool byChannel = false; ///< on the CPU, in the layout of its input: `FastByChannel`
    std::string problem; ///< why the node cannot run; empty when it can
    /// For an operator that `trustsArguments`: whether it must still be tried in a copy of the
    /// process before it runs here. Null for other operators. Copies of the call share it.
    std::shared_ptr<bool> untried;
};

/// The schema of the operator to call; null without one.
const c10::FunctionSchema* schemaOf(const NodeCall& call);

/// Finds the operator and matches the node's arguments with its schema, by name, else by position.
/// Views become copies where strides may differ from those that the model was made with, so that a
/// view may be impossible: in another layout, and on a GPU, where kernels (attention) choose the
/// layout of their results.
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
    bool overwrite = false; ///< the result may be written to the first argument's memory
    std::string_view place = {}; ///< `bodyPlace` of the node's graph
};

/// Runs one Op node; returns the values in the order of its outputs, list results flattened. Errors
/// name the node. Random numbers are drawn on the CPU, for contiguous tensors, under `SeededDraws`,
/// so that they are equal in each form.
Result<std::vector<at::IValue>> runCall(const Node& node, const NodeCall& call,
                                        const CallContext& context);

} // namespace qs
