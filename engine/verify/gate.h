// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/configure/gate_limits.h"
#include "engine/result/result_document.h"

#include <string>
#include <vector>

namespace qs {

/// "head: 35" as a limit. Errors (Usage): a missing colon or number.
Result<GateLimits::Node> nodeLimit(const std::string& text);

/// One limit, and the measured value.
struct GateCheck
{
    std::string rule; ///< "min-sqnr"
    std::string where; ///< output, node or "model"
    bool passed = false;
    std::string message; ///< "output 'linear' is at 28.4 dB, 30 dB are wanted"
};

/// Checks a result document against limits. A missing figure is a miss. A member of a fusion is
/// measured where the fusion is, a module at the last measured node within it. Errors: not a result
/// document; a node or module that it does not have (Usage, with the nearest name).
Result<std::vector<GateCheck>> checkResult(const ResultDocument& document,
                                           const GateLimits& limits);

/// For programs that read test results: JUnit's XML, and SARIF 2.1.0 with a result for each miss.
/// `model`: the path that the misses are about.
std::string junitText(const std::vector<GateCheck>& checks, const std::string& model);
std::string sarifText(const std::vector<GateCheck>& checks, const std::string& model);

} // namespace qs
