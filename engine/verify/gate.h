// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace qs {

/// What a result must hold. Nothing is asked of what is not set.
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
    };
    std::vector<Node> nodes;

    bool isEmpty() const;
};

/// Starting points for a kind of model: "classification", "detection", "super-resolution",
/// "embedding", "speech". Nothing for another name.
std::optional<GateLimits> gatePreset(std::string_view name);
std::vector<std::string> gatePresetNames();
/// `own` where it is set, else what `preset` says.
GateLimits withPreset(GateLimits own, const GateLimits& preset);

/// "head: 35" as a limit. Errors (Usage): no colon, no number.
Result<GateLimits::Node> nodeLimit(const std::string& text);

/// One thing that was asked, and what was found.
struct GateCheck
{
    std::string rule; ///< "min-sqnr"
    std::string where; ///< output, node or "model"
    bool passed = false;
    std::string message; ///< "output 'linear' is at 28.4 dB, 30 dB are wanted"
};

/// Holds a result document to the limits. What was not measured is a miss. Errors: not a result
/// document, a node that it does not have (with the nearest name).
Result<std::vector<GateCheck>> checkResult(const std::string& document, const GateLimits& limits);

/// For programs that read test results: JUnit's XML, and SARIF 2.1.0 with a result for each miss.
/// `model`: the path that the misses are about.
std::string junitText(const std::vector<GateCheck>& checks, const std::string& model);
std::string sarifText(const std::vector<GateCheck>& checks, const std::string& model);

} // namespace qs
