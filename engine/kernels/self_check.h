// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace qs {

/// The verdict on one kernel: a naive loop, the CPU kernel and, where a device is given, the CUDA
/// kernel on the same data (sizes around every block boundary; normal, constant, tiny, huge, NaN
/// and Inf values; strided views).
struct SelfCheck
{
    std::string name; ///< "histogram"
    bool cpuOk = false;
    std::optional<bool> cudaOk; ///< empty: no device was given
    double worst = 0; ///< largest relative difference seen; 0 where results must be equal
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
