// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/compare/grid_product.h"
#include "engine/compare/packed_product.h"
#include "engine/execute/interpreter.h"

#include <optional>
#include <unordered_map>
#include <vector>

namespace qs {

/// Runs the products of one graph that read values of eight bits on the processor's byte
/// instructions, several times as fast as over floats and, for a stored weight, closer to the exact
/// sum. Such a product is trusted when checked: its first result must agree with LibTorch's float
/// operator over a part of the same values (80 dB); else it is left to the interpreter, with a note
/// to the log. One thread at a time.
class IntegerProducts
{
public:
    /// The products of the interpreter's graph, on the CPU.
    IntegerProducts(const Interpreter& interpreter, const std::vector<GridProduct>& products);

    /// Puts the node's result into the frame (`Substitute`). False where the node is none of the
    /// products, its input is not on the grid, the frame holds another weight, or its kernel is not
    /// trusted.
    bool run(const Interpreter& interpreter, const Node& node, Frame& frame);

private:
    struct State
    {
        GridProduct product;
        std::optional<PackedProduct> packed; ///< once checked
        bool left = false; ///< to the interpreter, for good
    };

    /// Undefined where the node is left to the interpreter, this time or for good.
    static Result<at::Tensor> result(State& state, const Interpreter& interpreter,
                                     const at::Tensor& input, const Frame& frame);
    /// The same before a kernel is trusted; undefined also where these values cannot tell.
    static Result<at::Tensor> firstResult(State& state, const Interpreter& interpreter,
                                          const at::Tensor& input, const at::Tensor& integers,
                                          const at::Tensor& bias);

    std::unordered_map<NodeId, State> m_states;
};

/// From now on the interpreter runs these products of its graph so.
void multiplyAsBytes(Interpreter& interpreter, const std::vector<GridProduct>& products);

} // namespace qs
