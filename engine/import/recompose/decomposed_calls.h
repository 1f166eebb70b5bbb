// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph_edit.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace qs {

/// The operators of one function call, in order, with its inputs and results.
struct DecomposedCall
{
    std::string function; ///< "hardswish"
    std::vector<NodeId> nodes;
    std::vector<ValueRef> reads; ///< tensors from outside the call, in order of first use
    std::vector<ValueRef> gives; ///< values with consumers outside the call
};

/// The operator that a model called before decomposition.
struct WholeCall
{
    std::string target; ///< "aten.hardswish.default"
    std::vector<NamedArgument> args;
    /// The weight that did not require gradients during decomposition, if that can be determined.
    std::optional<ValueRef> untrained;
};

/// True if core ATen decomposes this function into operators that `wholeCall` recognizes.
bool isDecomposed(std::string_view function);

/// Returns the operator whose decomposition (PyTorch's torch/_decomp, torch/_refs) equals the
/// call's operators; nullopt without one.
std::optional<WholeCall> wholeCall(const GraphEdit& edit, const DecomposedCall& call);

} // namespace qs
