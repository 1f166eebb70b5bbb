// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/graph/graph.h"

#include <string>

namespace qs {

/// The device of a run. `requested` is "auto", "cpu", "cuda" or "cuda:N".
struct DeviceChoice
{
    std::string device = "cpu"; ///< resolved: "cpu" or "cuda:N"
    std::string note; ///< why, for stderr: "no CUDA driver: using the CPU"
};
/// Returns the device. auto: the CUDA device `preferred` if its plug-in loads and passes a
/// self-check, and every operator of the model has a kernel for it; else the CPU. "cuda" is the
/// same device. Fails (Device) for it without such a device.
Result<DeviceChoice> chooseDevice(const std::string& requested, const Graph& model,
                                  int preferred = 0);

} // namespace qs
