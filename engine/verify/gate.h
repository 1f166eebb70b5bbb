// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/configure/gate_limits.h"
#include "engine/result/result_document.h"

#include <string>
#include <vector>

namespace qs {

/// Parses a limit in dB for a node or module, "head: 35". Errors (Usage): a missing colon or
/// number.
Result<GateLimits::Node> nodeLimit(const std::string& text);

/// One limit, and the measured value.
struct GateCheck
{
    std::string rule; ///< "min-sqnr"
    std::string where; ///< output, node or "model"
    bool passed = false;
    std::string message; ///< "output 'linear' is at 28.4 dB, at least 30 dB is required"
};

/// Checks a result document against limits. A missing figure counts as not passed. For a member of
/// a fusion, checks the fusion's error; for a module, that of its last measured node. Errors: not a
/// result document; a node or module that it does not have (Usage, with the nearest name).
Result<std::vector<GateCheck>> checkResult(const ResultDocument& document,
                                           const GateLimits& limits);

/// Checks as JUnit XML, and as SARIF 2.1.0 with one result for each failed check. `model`: path of
/// the model, to which the results refer.
std::string junitText(const std::vector<GateCheck>& checks, const std::string& model);
std::string sarifText(const std::vector<GateCheck>& checks, const std::string& model);

} // namespace qs
