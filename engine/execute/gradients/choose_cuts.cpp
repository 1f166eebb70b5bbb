// SPDX-License-Identifier: Apache-2.0
#include "engine/execute/gradients/segment_cuts.h"
#include "engine/graph/operators/engine_ops.h"
#include "engine/graph/text/size_expression.h"

#include <algorithm>
#include <cmath>

namespace qs {

namespace {

/// A value that is alive at the boundaries after step `made` up to step `last`.
struct Span
{
    std::size_t made, last;
    double bytes;
};

/// The sizes of the steps, for choosing cuts.
struct StepSizes
{
    std::vector<double> made; ///< by step: bytes of the values of earlier steps
    std::vector<double> live; ///< by boundary
    std::vector<Span> spans;
    bool isKnown = true; ///< false: each value counts 1
};

double sizeOf(const Node& node, std::uint32_t index, const OpenSizes& symbols, bool isKnown)
{
    const ValueType& type = node.outputs[index].type;
    if (type.kind != ValueKind::Tensor)
        return 0;
    return isKnown ? double(tensorBytes(type, symbols)) : 1;
}

/// True if at least 90 % of the tensors have a known size.
bool tellsSizes(const GradientSteps& steps)
{
    std::size_t known = 0, all = 0;
    for (std::size_t step = 0; step < steps.size(); ++step)
        for (const Value& value : steps.node(step).outputs)
            if (value.type.kind == ValueKind::Tensor) {
                ++all;
                known += value.type.shapeKnown && value.type.dtype != DType::Unknown;
            }
    return known * 10 >= all * 9;
}

StepSizes sizesOf(const GradientSteps& steps, const OpenSizes& symbols)
{
    StepSizes sizes;
    sizes.isKnown = tellsSizes(steps);
    sizes.made.assign(steps.size() + 1, 0);
    sizes.live.assign(steps.size() + 2, 0);
    for (std::size_t step = 0; step < steps.size(); ++step) {
        const Node& node = steps.node(step);
        double made = 0;
        for (std::uint32_t i = 0; i < node.outputs.size(); ++i) {
            const double bytes = sizeOf(node, i, symbols, sizes.isKnown);
            made += node.isOp(kObserveTarget) ? 0 : bytes;
            const std::size_t last = steps.lastRead({node.id, i});
            if (last == GradientSteps::kNever || last == step)
                continue;
            sizes.spans.push_back({step, last, bytes});
            sizes.live[step + 1] += bytes;
            sizes.live[last + 1] -= bytes;
        }
        sizes.made[step + 1] = sizes.made[step] + made;
    }
    for (std::size_t boundary = 1; boundary < sizes.live.size(); ++boundary)
        sizes.live[boundary] += sizes.live[boundary - 1];
    return sizes;
}

/// Cuts into `segments` segments of about equal bytes; each cut is at the nearby boundary with the
/// fewest live bytes.
std::vector<std::size_t> cutsInto(const StepSizes& sizes, std::size_t segments)
{
    const std::size_t steps = sizes.made.size() - 1;
    const double each = sizes.made.back() / double(segments);
    std::vector<std::size_t> cuts;
    for (std::size_t k = 1; k < segments; ++k) {
        const auto at = [&](double share) {
            const double wanted = (double(k) + share) * each;
            const auto it = std::lower_bound(sizes.made.begin(), sizes.made.end(), wanted);
            return std::size_t(it - sizes.made.begin());
        };
        const std::size_t from = std::max(at(-0.25), cuts.empty() ? 1 : cuts.back() + 1);
        const std::size_t to = std::min(at(0.25), steps - 1);
        if (from > to)
            continue;
        const auto least = std::min_element(sizes.live.begin() + std::ptrdiff_t(from),
                                            sizes.live.begin() + std::ptrdiff_t(to) + 1);
        cuts.push_back(std::size_t(least - sizes.live.begin()));
    }
    return cuts;
}

/// Bytes of the values that are alive at one or more of the cuts.
double keptAt(const StepSizes& sizes, const std::vector<std::size_t>& cuts)
{
    double kept = 0;
    for (const Span& span : sizes.spans) {
        const auto next = std::upper_bound(cuts.begin(), cuts.end(), span.made);
        if (next != cuts.end() && *next <= span.last)
            kept += span.bytes;
    }
    return kept;
}

double largestSegment(const StepSizes& sizes, const std::vector<std::size_t>& cuts)
{
    double most = 0;
    std::size_t from = 0;
    for (std::size_t i = 0; i <= cuts.size(); ++i) {
        const std::size_t to = i < cuts.size() ? cuts[i] : sizes.made.size() - 1;
        most = std::max(most, sizes.made[to] - sizes.made[from]);
        from = to;
    }
    return most;
}

} // namespace

SegmentCuts chooseCuts(const GradientSteps& steps, const OpenSizes& open, const CutLimits& limits)
{
    constexpr double kMore = 1.2; // factor between the numbers of segments that are tried
    if (steps.size() < 2)
        return {};
    const StepSizes sizes = sizesOf(steps, open);
    const double all = sizes.made.back();
    SegmentCuts best {{}, std::size_t(all)};
    if (sizes.isKnown && all <= double(limits.wholeBytes))
        return best;
    const auto most = std::size_t(4 * std::sqrt(double(steps.size())));
    for (std::size_t n = 2; n <= std::max<std::size_t>(most, 2);
         n = std::max(n + 1, std::size_t(double(n) * kMore))) {
        std::vector<std::size_t> cuts = cutsInto(sizes, n);
        const double kept = keptAt(sizes, cuts);
        if (sizes.isKnown && limits.bytes > 0 && kept > double(limits.bytes))
            continue;
        if (const double taken = kept + largestSegment(sizes, cuts); taken < double(best.bytes))
            best = {std::move(cuts), std::size_t(taken)};
    }
    return best;
}

const std::vector<std::size_t>& CutsOfCalls::of(const Graph& graph, const GradientSteps& steps,
                                                const std::vector<at::IValue>& inputs)
{
    OpenSizes now = openSizes(graph, inputs);
    if (!m_sizes || *m_sizes != now) {
        m_cuts = chooseCuts(steps, now, m_limits);
        m_sizes = std::move(now);
    }
    return m_cuts.at;
}

} // namespace qs
