// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph.h"

#include <ATen/core/dispatch/Dispatcher.h>

#include <optional>
#include <string>
#include <string_view>

namespace qs {

/// The dispatcher's handle for a target of a graph: "aten.conv2d.default" is aten::conv2d without
/// overload, "aten.add.Tensor" is aten::add.Tensor. Empty if LibTorch has no such operator with a
/// schema. Any thread.
std::optional<c10::OperatorHandle> findOperator(std::string_view target);

/// "aten::conv2d" and "" for "aten.conv2d.default"; empty names for other texts.
c10::OperatorName operatorName(std::string_view target);

/// "aten.conv2d.default" for aten::conv2d without overload.
std::string targetOf(const c10::OperatorName& name);

/// True when the schema says that the operator writes to one of its arguments.
bool mutatesArguments(const c10::FunctionSchema& schema);

/// True for operators that access files, other processes or the terminal. They are displayed but
/// never run.
bool isForbiddenOperator(std::string_view target);

/// True for operators that only PyTorch's own code calls: their kernels do not check their
/// arguments and may crash where others fail.
bool trustsArguments(const c10::OperatorHandle& op);

/// The first operator of the graph, including bodies, that has a kernel for the CPU but none for
/// `key` (for example CUDA); "" = none.
std::string operatorWithoutKernel(const Graph& graph, c10::DispatchKey key);

/// True when calling the operator twice with the same arguments may give different results.
bool isRandom(const c10::OperatorHandle& op);

} // namespace qs
