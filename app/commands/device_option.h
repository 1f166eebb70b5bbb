// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"

#include <string>

namespace CLI {
class App;
}

namespace qs {

/// Adds `--device auto|cpu|cuda[:N]`; other words are wrong usage.
void addDeviceOption(CLI::App& verb, std::string& device);

/// What to run on. For "auto" the log says what was found and why.
Result<std::string> resolveDevice(const std::string& requested);

} // namespace qs
