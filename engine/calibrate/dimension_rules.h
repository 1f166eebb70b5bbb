// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/graph/graph.h"

#include <ATen/core/ivalue.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace qs {

/// The value of a size expression ("2*s77 + 1", "s0//2", "(s0 + 3) % 4"); nothing for one that
/// cannot be read or names a symbol without a value. Division and remainder round down, as
/// Python's.
std::optional<std::int64_t> evaluateSize(const std::string& expression,
                                         const std::map<std::string, std::int64_t>& symbols);

/// What a model's file says about the open dimensions of its inputs: ranges, equal sizes, sizes
/// that follow from others. Built once; immutable.
class DimensionRules
{
public:
    explicit DimensionRules(const Graph& graph);
    bool empty() const { return m_dims.empty(); }

    /// Whether one call's inputs obey. The error (BadInput) names input, dimension and what the
    /// model takes there; `what` says which call it is. A lower bound of 2 or less is no bound, as
    /// in PyTorch.
    Result<void> check(const std::vector<at::IValue>& inputs, const std::string& what) const;

private:
    struct Range
    {
        std::int64_t least = 0;
        std::optional<std::int64_t> most;
    };
    struct OpenDim
    {
        std::size_t input;
        std::string inputName;
        std::size_t dim;
        std::string expression;
    };
    static Error misfit(const OpenDim& place, std::int64_t size, const std::string& what,
                        const std::string& wanted);
    Result<void> checkRange(const OpenDim& place, std::int64_t size, const std::string& what) const;

    std::vector<OpenDim> m_dims; ///< lone symbols first
    std::map<std::string, Range> m_ranges; ///< by symbol
};

} // namespace qs
