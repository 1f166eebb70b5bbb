// SPDX-License-Identifier: Apache-2.0
#include "engine/blame/causes/mask_constant.h"

#include <algorithm>
#include <cmath>

namespace qs {

namespace {

bool isHuge(const Argument& argument)
{
    const auto number = argument.asDouble();
    return number && std::abs(*number) >= kMaskMagnitude;
}

} // namespace

double magnitudeOf(const ObserverStats& seen)
{
    return std::max(std::abs(double(seen.min)), std::abs(double(seen.max)));
}

NodeId maskHolder(const SiteFacts& facts, NodeId from)
{
    constexpr std::size_t kMostNodes = 64;
    std::vector<NodeId> wave {from};
    NodeId stored;
    for (std::size_t i = 0; i < wave.size() && wave.size() < kMostNodes; ++i) {
        const Node& node = facts.model().get(wave[i]);
        if (node.isStored() && !stored && facts.holdsHuge(node, kMaskMagnitude))
            stored = node.id;
        for (const NamedArgument& argument : node.args) {
            if (isHuge(argument.value))
                return node.id;
            forEachRef(argument.value, [&](ValueRef ref) {
                if (std::find(wave.begin(), wave.end(), ref.node) == wave.end())
                    wave.push_back(ref.node);
            });
        }
    }
    return stored;
}

double scoreRange(const SiteFacts& facts, const BlameSite& site)
{
    double widest = 0;
    std::vector<NodeId> nodes = site.at;
    nodes.push_back(site.node);
    for (const NodeId id : nodes)
        for (const NamedArgument& argument : facts.model().get(id).args)
            forEachRef(argument.value, [&](ValueRef ref) {
                const ObserverStats* seen = facts.statsOf(ref);
                if (seen && magnitudeOf(*seen) < kMaskMagnitude)
                    widest = std::max(widest, double(seen->max) - double(seen->min));
            });
    return widest;
}

} // namespace qs
