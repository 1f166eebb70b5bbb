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

/// The file's constraints on symbolic dimensions of a model's inputs: ranges, equal sizes, sizes
/// derived from others. Immutable.
class DimensionRules
{
public:
    explicit DimensionRules(const Graph& graph);
    bool empty() const { return m_dims.empty(); }

    /// Checks one call's inputs. The error (BadInput) names input, dimension and the accepted
    /// sizes; `what` names the call. A lower bound of 2 or less is ignored, as in PyTorch.
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

    std::vector<OpenDim> m_dims; ///< plain symbols first
    std::map<std::string, Range> m_ranges; ///< ranges by symbol
};

} // namespace qs
