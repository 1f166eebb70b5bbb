// SPDX-License-Identifier: Apache-2.0
#include "engine/verify/node_steps.h"

#include "engine/base/decibels.h"
#include "engine/base/text.h"
#include "engine/compare/metrics/metrics.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <numeric>

namespace qs {

namespace {

/// Differences of one node; empty if the runtime does not expose the node, or exposes a tensor of
/// another shape under its name.
std::optional<NodeSteps> apartOf(const OwnIntegers& own,
                                 const std::map<std::string, at::Tensor>& theirs)
{
    const auto found = theirs.find(own.node);
    const at::Tensor& integers = own.integers;
    if (found == theirs.end() || !found->second.defined()
        || found->second.sizes() != integers.sizes() || integers.numel() == 0)
        return std::nullopt;
    const at::Tensor apart = (found->second.to(at::kLong) - integers.to(at::kLong)).abs().flatten();
    NodeSteps node;
    node.node = own.node;
    if (own.halfway.defined())
        node.ties = apart.eq(1).logical_and(own.halfway.flatten()).sum().item<std::int64_t>();
    node.largest = apart.max().item<std::int64_t>();
    const auto most = at::tensor(
        std::vector<std::int64_t>(NodeSteps::kMost.begin(), NodeSteps::kMost.end()), at::kLong);
    const at::Tensor bins
        = at::bincount(at::bucketize(apart, most), {}, std::int64_t(node.bins.size()));
    for (std::size_t bin = 0; bin < node.bins.size(); ++bin)
        node.bins[bin] = bins[std::int64_t(bin)].item<std::int64_t>();
    return node;
}

std::int64_t moreThanOne(const NodeSteps& node)
{
    return std::accumulate(node.bins.begin() + 2, node.bins.end(), std::int64_t(0));
}

std::int64_t elementsOf(const NodeSteps& node)
{
    return node.bins[0] + node.bins[1] + moreThanOne(node);
}

/// Whether all differences are one step and, except for a few, of values halfway between two steps.
bool isTies(const NodeSteps& node)
{
    return node.largest <= 1
        && node.bins[1] - node.ties
        <= std::max<std::int64_t>(1, elementsOf(node) * kTiesInHundred / 100);
}

/// Scores count as equal if they differ by less than this share of the largest, as float sums in
/// another order do.
constexpr double kEqualScores = 1e-5;

void addChoices(AloneSteps& steps, const OwnIntegers& own,
                const std::map<std::string, at::Tensor>& theirs)
{
    const auto found = theirs.find(own.node);
    if (found == theirs.end() || found->second.sizes() != own.integers.sizes()
        || own.integers.numel() == 0)
        return;
    const at::Tensor places = found->second.to(at::kLong);
    const at::Tensor ourPlaces = own.integers.to(at::kLong);
    const std::int64_t size = own.scores.size(own.dim);
    const auto blame = [&] {
        if (steps.worse.empty())
            steps.worse = own.node;
    };
    if (places.lt(0).logical_or(places.ge(size)).any().item<bool>())
        return blame();
    const at::Tensor apart
        = (own.scores.gather(own.dim, places) - own.scores.gather(own.dim, ourPlaces)).abs();
    const double largest = own.scores.abs().max().item<double>();
    if (apart.gt(kEqualScores * largest).any().item<bool>())
        blame();
    else
        steps.choices += places.ne(ourPlaces).sum().item<std::int64_t>();
}

} // namespace

std::optional<VerifiedSteps> stepsApart(const NodeIntegers& ours,
                                        const std::map<std::string, at::Tensor>& theirs)
{
    VerifiedSteps steps;
    for (const OwnIntegers& own : ours) {
        auto node = own.scores.defined() ? std::nullopt : apartOf(own, theirs);
        if (!node)
            continue;
        if (steps.one + steps.more == 0 && node->largest > 0)
            steps.startsWithTies = isTies(*node);
        ++steps.nodes;
        steps.equal += node->bins[0];
        steps.one += node->bins[1];
        steps.more += moreThanOne(*node);
        steps.largest = std::max(steps.largest, node->largest);
        if (node->largest > 1 && steps.firstNode.empty())
            steps.firstNode = own.node;
        steps.byNode.push_back(*std::move(node));
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
    for (const OwnIntegers& own : ours) {
        if (own.scores.defined()) {
            addChoices(steps, own, theirs);
            continue;
        }
        const auto node = apartOf(own, theirs);
        if (!node)
            continue;
        ++steps.nodes;
        steps.elements += elementsOf(*node);
        steps.one += node->bins[1];
        steps.ties += node->ties;
        steps.more += moreThanOne(*node);
        if (!isTies(*node) && steps.worse.empty())
            steps.worse = own.node;
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
    const bool isShown = steps.nodes > 0 || steps.choices > 0 || !steps.worse.empty();
    return isShown ? std::optional(steps) : std::nullopt;
}

std::string faultAlone(const AloneSteps& alone)
{
    if (!alone.worse.empty())
        return "node '" + alone.worse + "', fed our integers, makes others";
    if (alone.outputDb.value_or(kExactDb) >= kExactRuntimeDb)
        return {};
    return "fed our integers, an output agrees with ours to " + fixedText(*alone.outputDb, 1)
        + " dB, " + fixedText(kExactRuntimeDb, 0) + " dB are required";
}

bool isOnlyTies(const RuntimeVerdict& verdict)
{
    return verdict.alone ? faultAlone(*verdict.alone).empty()
                         : verdict.steps && verdict.steps->startsWithTies;
}

bool choseOthers(const RuntimeVerdict& verdict)
{
    return verdict.alone && verdict.alone->choices > 0 && faultAlone(*verdict.alone).empty();
}

} // namespace qs
