// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph_edit.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace qs {

/// The operators of one call of a function, in order, and what goes in and out.
struct DecomposedCall
{
    std::string function; ///< "hardswish"
    std::vector<NodeId> nodes;
    std::vector<ValueRef> reads; ///< tensors made outside, in order of first use
    std::vector<ValueRef> gives; ///< read outside
};

/// The operator that a model called.
struct WholeCall
{
    std::string target; ///< "aten.hardswish.default"
    std::vector<NamedArgument> args;
    /// The weight that did not require gradients at decomposition, if that shows.
    std::optional<ValueRef> untrained;
};

/// Whether core ATen spells this function as other operators that `wholeCall` knows.
bool isDecomposed(std::string_view function);

/// The one operator whose decomposition the call's operators are (PyTorch's torch/_decomp,
/// torch/_refs); nothing if they differ from the expected ones.
std::optional<WholeCall> wholeCall(const GraphEdit& edit, const DecomposedCall& call);

} // namespace qs
