// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace qs {

/// The folder of the shipped files: $QUANTSCOPE_RESOURCES, else `share/quantscope` beside the `bin`
/// that the program runs from, else the `resources` this was built from.
std::filesystem::path resourceFolder();

} // namespace qs
