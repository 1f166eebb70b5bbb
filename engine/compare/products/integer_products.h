// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/memo.h"
#include "engine/compare/products/grid_product.h"
#include "engine/compare/products/packed_product.h"
#include "engine/execute/interpreter.h"

#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

namespace qs {

/// Packed weights that later runs of the same arithmetic find again. `keyOf` tells weights
/// apart; the input's grid and shape and the geometry count beside it.
struct KeptPacks
{
    Memo& memo;
    std::function<Key(const GridProduct&)> keyOf;
};

/// Runs the products of one graph that read values of eight bits on the processor's byte
/// instructions, several times as fast as over floats and, for a stored weight, closer to the exact
/// sum. Such a product is trusted when checked: its first result must agree with LibTorch's float
/// operator over a part of the same values (80 dB); else it is left to the interpreter, with a note
/// to the log. One thread at a time.
class IntegerProducts
{
public:
    /// The products of a graph that runs on the CPU. `kept`: none where nothing is kept.
    explicit IntegerProducts(const std::vector<GridProduct>& products,
                             std::optional<KeptPacks> kept = {});

    /// Puts the node's result into the frame (`Substitute`). False where the node is none of the
    /// products, its weight is not constant, the layout is not that of the kernels, its input is
    /// not on the grid, the frame holds another weight, or its kernel is not trusted.
    bool run(const Interpreter& interpreter, const Node& node, Frame& frame);

private:
    struct State
    {
        GridProduct product;
        std::shared_ptr<const PackedProduct> packed; ///< once checked
        bool left = false; ///< to the interpreter, for good
    };

    /// Undefined where the node is left to the interpreter, this time or for good.
    Result<at::Tensor> result(State& state, const Interpreter& interpreter, const at::Tensor& input,
                              const Frame& frame);
    /// The same before a kernel is trusted; undefined also where these values cannot tell.
    Result<at::Tensor> firstResult(State& state, const Interpreter& interpreter,
                                   const at::Tensor& input, const at::Tensor& integers,
                                   const at::Tensor& bias);

    /// Null where the product is left to the interpreter.
    struct KeptPack
    {
        std::shared_ptr<const PackedProduct> packed;
    };
    void keepPack(const GridProduct& product, at::IntArrayRef inputShape,
                  std::shared_ptr<const PackedProduct> packed, std::size_t bytes);
    Key packKey(const GridProduct& product, at::IntArrayRef inputShape) const;

    std::unordered_map<NodeId, State> m_states;
    std::optional<KeptPacks> m_kept;
};

/// For the one interpreter that runs these products of its graph so; none where there are none.
Substitute byteProducts(const std::vector<GridProduct>& products,
                        std::optional<KeptPacks> kept = {});

} // namespace qs
