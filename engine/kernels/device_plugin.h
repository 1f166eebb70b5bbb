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
    bool pluginFound = false; ///< the plug-in is next to the engine
    std::string pluginPath; ///< its path, or the expected path
    std::string why; ///< what is missing, in one phrase; empty if nothing
};

/// Queries the driver without creating a context; loads nothing else. Any thread.
CudaFacts cudaFacts();

/// Loads the plug-in, which registers the CUDA kernels. Afterwards CUDA computes as reproducibly as
/// LibTorch can in this process: no TF32, deterministic cuDNN without benchmarking. Further calls
/// have no effect. Fails (Device) without a driver, device or plug-in, or with the loader's
/// message. Call before any other use of LibTorch's CUDA part.
Result<void> loadCudaPlugin();

} // namespace qs
