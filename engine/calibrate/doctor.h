// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/kernels/device_plugin.h"
#include "engine/kernels/self_check.h"

#include <string>
#include <vector>

namespace qs {

/// Abilities of this machine, and whether the kernels are right on it. Plain values.
struct DoctorReport
{
    std::string torchVersion; ///< "2.11.0"
    std::string cpu; ///< vector instructions LibTorch uses, "AVX2"
    int threads = 0;
    std::string quantizedEngine; ///< LibTorch's int8 engine, "x86"
    CudaFacts cuda;
    std::string device; ///< where the checks ran beside the CPU: "cuda:0", or "cpu"
    std::string deviceNote; ///< why, if it differs from the request
    std::vector<SelfCheck> checks;
};

/// Runs every kernel's test body on the CPU and, where there is one, the asked device ("auto",
/// "cpu", "cuda", "cuda:N"). A failing check is a row, not an error. Errors: as `chooseDevice`,
/// where a device was asked for by name.
Result<DoctorReport> runDoctor(const std::string& device);

} // namespace qs
