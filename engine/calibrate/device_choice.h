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
/// Returns the device. auto: the first CUDA device whose plug-in loads and passes a self-check, if
/// every operator of the model has a kernel for it; else the CPU. Fails (Device) for "cuda"
/// without such a device.
Result<DeviceChoice> chooseDevice(const std::string& requested, const Graph& model);

} // namespace qs
