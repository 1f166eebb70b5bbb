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
    /// For every output of the lowered model, compared with the float model.
    std::optional<double> minSqnrDb, minCosine;
    /// Maximum drop from float to int8: of accuracy in percentage points, and of the user's metric
    /// in its unit.
    std::optional<double> maxDrop;
    /// Quantized operators in percent of all quantizable ones.
    std::optional<double> minCoverage;
    /// Limit on the cumulative error of a node, or of the last node of a module.
    struct Node
    {
        std::string name; ///< the node's name, or the module's path
        double minSqnrDb = 0;
        friend bool operator==(const Node&, const Node&) = default;
    };
    std::vector<Node> nodes;

    bool isEmpty() const;
    friend bool operator==(const GateLimits&, const GateLimits&) = default;
};

/// Starting points for a kind of model: "classification", "detection", "super-resolution",
/// "embedding", "speech". nullopt for another name.
std::optional<GateLimits> gatePreset(std::string_view name);
std::vector<std::string> gatePresetNames();
/// Returns each limit of `own` if set, else of `other`; node limits of both, without duplicate
/// names.
GateLimits withLimits(GateLimits own, const GateLimits& other);

} // namespace qs
