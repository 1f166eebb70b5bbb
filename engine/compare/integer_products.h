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
    /// On the CPU, for an interpreter of this graph that works in `layout`.
    static Result<IntegerProducts> create(GraphPtr graph, const std::vector<GridProduct>& products,
                                          Layout layout);

    /// Puts the node's result into the frame. False where the node is none of the products, its
    /// input is not on the grid, the frame holds another weight, or its kernel is not trusted.
    bool run(const Node& node, Frame& frame);

private:
    struct State
    {
        GridProduct product;
        std::optional<PackedProduct> packed; ///< once checked
        bool left = false; ///< to the interpreter, for good
    };

    explicit IntegerProducts(Interpreter constants);
    Result<bool> runTrusted(State& state, const Node& node, const at::Tensor& input, Frame& frame);
    Result<at::Tensor> runFirst(State& state, const Node& node, const at::Tensor& input,
                                const at::Tensor& integers, const at::Tensor& bias) const;
    Result<at::Tensor> biasOf(const GridProduct& product, const Frame& frame) const;
    Result<at::Tensor> constant(ValueRef ref) const;
    Result<std::vector<WeightTerm>> termsOf(const GridProduct& product,
                                            const at::Tensor& weight) const;

    Interpreter m_constants;
    std::unordered_map<NodeId, State> m_states;
};

} // namespace qs
