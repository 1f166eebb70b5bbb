// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/execute/calls/open_sizes.h"
#include "engine/execute/gradients/gradient_steps.h"

#include <optional>
#include <vector>

namespace qs {

/// Memory limits for cuts, as in `GradientRequest`.
struct CutLimits
{
    std::size_t bytes = 0;
    std::size_t wholeBytes = 0;
};

/// Boundaries between segments, and the memory that they lead to.
struct SegmentCuts
{
    std::vector<std::size_t> at; ///< the first step of each segment except the first, in order
    /// Bytes of the values kept at boundaries and of those of the largest segment, by shapes.
    std::size_t bytes = 0;
};

/// Cuts that minimize this memory; kept values are limited by `limits`. That gives about sqrt(n)
/// segments for values of equal size. A graph with unknown shapes is cut by the number of steps.
SegmentCuts chooseCuts(const GradientSteps& steps, const OpenSizes& sizes, const CutLimits& limits);

/// The cuts for the sizes of a call's inputs. One thread at a time.
class CutsOfCalls
{
public:
    explicit CutsOfCalls(CutLimits limits)
        : m_limits(limits)
    {
    }
    const std::vector<std::size_t>& of(const Graph& graph, const GradientSteps& steps,
                                       const std::vector<at::IValue>& inputs);

private:
    CutLimits m_limits;
    std::optional<OpenSizes> m_sizes; ///< that the cuts are for
    SegmentCuts m_cuts;
};

} // namespace qs
