// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/graph/graph.h"

#include <ATen/core/function_schema.h>

#include <functional>
#include <nlohmann/json.hpp>

namespace qs {

/// JSON of a `.pt2`'s model record; keys stay in the order they are written.
using Pt2Json = nlohmann::ordered_json;

/// Writes a graph that a node runs; called with its index in `Node::subgraphs`.
using WriteSubgraph = std::function<Result<Pt2Json>(std::size_t index)>;

/// The reference to a value inside an argument, by kind of value: {"as_tensor": {"name": ...}}.
Pt2Json pt2Reference(const Graph& graph, ValueRef ref);
/// A constant or a reference as torch.export writes it. `type`: the argument's type in the schema;
/// null without a schema. Errors: an argument that the format cannot hold.
Result<Pt2Json> pt2Argument(const Graph& graph, const Argument& argument, const c10::TypePtr& type);
/// All arguments of a node. Arguments after an omitted one and keyword-only arguments are passed by
/// name.
Result<Pt2Json> pt2Arguments(const Graph& graph, const Node& node, const WriteSubgraph& subgraph);
/// True if the operator's return is split into members: a list, or several results.
bool returnsMembers(const Node& node);
/// The outputs of a node as the schema returns them: list members are joined into one list output.
Result<Pt2Json> pt2Outputs(const Node& node);
/// The target as torch.export writes it, "torch.ops.aten.conv2d.default"; Python functions are
/// unchanged.
std::string pt2Target(const std::string& target);

/// torch.export's number for an element type. Errors: a type that the format has no number for.
Result<int> pt2ScalarType(DType dtype);
Pt2Json pt2Device(const Device& device);

} // namespace qs
