// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace qs {

/// The folder of the shipped files: $QUANTSCOPE_RESOURCES, else `share/quantscope` next to the
/// program's `bin` folder, else the source tree's `resources`.
std::filesystem::path resourceFolder();

} // namespace qs
