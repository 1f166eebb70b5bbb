// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/kernels/device_plugin.h"
#include "engine/kernels/self_check.h"

#include <string>
#include <vector>

namespace qs {

/// Capabilities of this machine, and results of the kernels' self-checks. Plain values.
struct DoctorReport
{
    std::string torchVersion; ///< "2.11.0"
    std::string cpu; ///< vector instructions LibTorch uses, "AVX2"
    int threads = 0;
    std::string quantizedEngine; ///< LibTorch's int8 engine, "x86"
    CudaFacts cuda;
    std::string device; ///< device of the checks in addition to the CPU: "cuda:0", or "cpu"
    std::string deviceNote; ///< why, if it differs from the request
    std::vector<SelfCheck> checks;
};

/// Runs every kernel's self-check on the CPU and on the requested device ("auto", "cpu", "cuda",
/// "cuda:N"), if available. A failing check is a row of the report, not an error. Errors as
/// `chooseDevice`, if a device was requested by name.
Result<DoctorReport> runDoctor(const std::string& device);

} // namespace qs
