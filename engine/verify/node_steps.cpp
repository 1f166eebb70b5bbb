// SPDX-License-Identifier: Apache-2.0
#include "engine/verify/node_steps.h"

#include "engine/compare/metrics/metrics.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace qs {

namespace {

struct Apart
{
    std::int64_t elements = 0, one = 0, more = 0, largest = 0;
};

/// Nothing where the runtime does not show the node, or shows something else under its name.
std::optional<Apart> apartOf(const at::Tensor& own, const std::map<std::string, at::Tensor>& theirs,
                             const std::string& name)
{
    const auto found = theirs.find(name);
    if (found == theirs.end() || !found->second.defined() || found->second.sizes() != own.sizes()
        || own.numel() == 0)
        return std::nullopt;
    const at::Tensor apart = (found->second.to(at::kLong) - own.to(at::kLong)).abs();
    return Apart {own.numel(), apart.eq(1).sum().item<std::int64_t>(),
                  apart.gt(1).sum().item<std::int64_t>(), apart.max().item<std::int64_t>()};
}

/// Few enough to be sums that lay halfway between two steps.
bool isFew(const Apart& apart, std::int64_t inHundred)
{
    return apart.more == 0
        && apart.one <= std::max<std::int64_t>(1, apart.elements * inHundred / 100);
}

} // namespace

std::optional<VerifiedSteps> countSteps(const NodeIntegers& ours,
                                        const std::map<std::string, at::Tensor>& theirs)
{
    VerifiedSteps steps;
    for (const auto& [name, own] : ours) {
        const auto apart = apartOf(own, theirs, name);
        if (!apart)
            continue;
        if (steps.one + steps.more == 0 && apart->largest > 0)
            steps.startsWithTies = isFew(*apart, 1);
        ++steps.nodes;
        steps.equal += apart->elements - apart->one - apart->more;
        steps.one += apart->one;
        steps.more += apart->more;
        steps.largest = std::max(steps.largest, apart->largest);
        if (apart->largest > 1 && steps.firstNode.empty())
            steps.firstNode = name;
    }
    return steps.nodes > 0 ? std::optional(steps) : std::nullopt;
}

std::optional<AloneSteps> countAlone(const NodeIntegers& ours,
                                     const std::vector<at::Tensor>& outputs,
                                     const std::map<std::string, at::Tensor>& theirs)
{
    if (theirs.empty())
        return std::nullopt;
    AloneSteps steps;
    for (const auto& [name, own] : ours) {
        const auto apart = apartOf(own, theirs, name);
        if (!apart)
            continue;
        ++steps.nodes;
        steps.elements += apart->elements;
        steps.one += apart->one;
        steps.more += apart->more;
        if (!isFew(*apart, kTiesInHundred) && steps.worse.empty())
            steps.worse = name;
    }
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        const auto found = theirs.find("output." + std::to_string(i));
        if (found == theirs.end() || !outputs[i].defined() || !outputs[i].is_floating_point()
            || found->second.sizes() != outputs[i].sizes() || outputs[i].numel() == 0)
            continue;
        ErrorSums sums;
        if (!addError(sums, outputs[i].to(at::kFloat), found->second.to(at::kFloat)))
            continue;
        if (const auto metrics = metricsFrom(sums); metrics && metrics->sqnrDb)
            steps.outputDb = std::min(steps.outputDb.value_or(*metrics->sqnrDb), *metrics->sqnrDb);
    }
    return steps.nodes > 0 ? std::optional(steps) : std::nullopt;
}

} // namespace qs
