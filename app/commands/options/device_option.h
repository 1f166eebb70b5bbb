// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace qs {

/// Adds `--device auto|cpu|cuda[:N]`; other values are usage errors.
void addDeviceOption(CLI::App& verb, std::string& device);

} // namespace qs
