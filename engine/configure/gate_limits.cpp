// SPDX-License-Identifier: Apache-2.0
#include "engine/configure/gate_limits.h"

#include <algorithm>
#include <array>

namespace qs {

namespace {

struct GatePreset
{
    const char* name;
    std::optional<double> minSqnrDb, minCosine, maxDrop;
};

/// Usual limits for such models; users may tighten them.
constexpr std::array<GatePreset, 5> kGatePresets {{
    {"classification", std::nullopt, 0.99, 1.0},
    {"detection", 20.0, 0.99, std::nullopt},
    {"super-resolution", 35.0, std::nullopt, std::nullopt},
    {"embedding", std::nullopt, 0.995, std::nullopt},
    {"speech", 20.0, 0.98, std::nullopt},
}};

} // namespace

bool GateLimits::isEmpty() const
{
    return !minSqnrDb && !minCosine && !maxDrop && !minCoverage && nodes.empty();
}

std::optional<GateLimits> gatePreset(std::string_view name)
{
    for (const GatePreset& preset : kGatePresets)
        if (preset.name == name)
            return GateLimits {preset.minSqnrDb, preset.minCosine, preset.maxDrop, {}, {}};
    return std::nullopt;
}

std::vector<std::string> gatePresetNames()
{
    std::vector<std::string> names;
    for (const GatePreset& preset : kGatePresets)
        names.emplace_back(preset.name);
    return names;
}

GateLimits withLimits(GateLimits own, const GateLimits& other)
{
    const auto take = [](std::optional<double>& value, const std::optional<double>& given) {
        if (!value)
            value = given;
    };
    take(own.minSqnrDb, other.minSqnrDb);
    take(own.minCosine, other.minCosine);
    take(own.maxDrop, other.maxDrop);
    take(own.minCoverage, other.minCoverage);
    for (const GateLimits::Node& node : other.nodes)
        if (std::none_of(own.nodes.begin(), own.nodes.end(),
                         [&](const GateLimits::Node& mine) { return mine.name == node.name; }))
            own.nodes.push_back(node);
    return own;
}

} // namespace qs
