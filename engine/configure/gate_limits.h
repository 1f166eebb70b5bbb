// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace qs {

/// The limits that a result must meet. Unset ones are not checked.
struct GateLimits
{
    /// Of every output of the lowered model against the float model.
    std::optional<double> minSqnrDb, minCosine;
    /// Of the share of right answers, in percentage points, and of the user's own metric, in its
    /// unit: float less int8.
    std::optional<double> maxDrop;
    /// Quantized operators of those that could be, in percent.
    std::optional<double> minCoverage;
    /// Of a node, or of the last node of a module: its cumulative error.
    struct Node
    {
        std::string name; ///< of the node, or the module's path
        double minSqnrDb = 0;
        friend bool operator==(const Node&, const Node&) = default;
    };
    std::vector<Node> nodes;

    bool isEmpty() const;
    friend bool operator==(const GateLimits&, const GateLimits&) = default;
};

/// Starting points for a kind of model: "classification", "detection", "super-resolution",
/// "embedding", "speech". Nothing for another name.
std::optional<GateLimits> gatePreset(std::string_view name);
std::vector<std::string> gatePresetNames();
/// `own` where it is set, else `other`; nodes of both, a name once.
GateLimits withLimits(GateLimits own, const GateLimits& other);

} // namespace qs
