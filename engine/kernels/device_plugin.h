// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"

#include <string>
#include <vector>

namespace qs {

/// The CUDA driver, devices and plug-in of this machine.
struct CudaFacts
{
    bool driver = false; ///< libcuda loads and initializes
    std::string driverVersion; ///< the CUDA version it supports, "13.0"
    std::vector<std::string> devices; ///< names, by index
    bool pluginFound = false; ///< the plug-in stands beside the engine
    std::string pluginPath; ///< where it is, or was looked for
    std::string why; ///< what is missing, one phrase; empty when all is there
};

/// Asks the driver without starting a context; loads nothing else. Any thread.
CudaFacts cudaFacts();

/// Loads the plug-in, which registers the kernels for CUDA. From then on CUDA computes as
/// reproducibly as LibTorch can in this process: no TF32, deterministic cuDNN without benchmarking.
/// Harmless when called again. Errors
/// (Device): no driver, no device, no plug-in, or what the loader says. Call before anything else
/// touches LibTorch's CUDA side.
Result<void> loadCudaPlugin();

} // namespace qs
