// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace qs {

/// Result of one kernel's check: compares a naive loop, the CPU kernel and, if a device is given,
/// the CUDA kernel on the same data (sizes around every block boundary; normal, constant, tiny,
/// huge, NaN and Inf values; strided views).
struct SelfCheck
{
    std::string name; ///< "histogram"
    bool cpuOk = false;
    std::optional<bool> cudaOk; ///< empty: no device was given
    double worst = 0; ///< largest relative difference; 0 if results must be equal
    std::string detail; ///< the first case that failed, or empty
    bool passed() const { return cpuOk && cudaOk.value_or(true); }
};

/// Names of all checks.
std::vector<std::string> selfCheckNames();

/// Runs one check; `device` is "cpu" or "cuda:N" (the plug-in must be loaded). An exception of
/// LibTorch becomes a failure with its message. The name must be one of `selfCheckNames`.
SelfCheck runSelfCheck(std::string_view name, const std::string& device);

std::vector<SelfCheck> runSelfChecks(const std::string& device);

} // namespace qs
