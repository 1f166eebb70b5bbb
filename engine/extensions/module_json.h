// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/json/json_reader.h"
#include "engine/configure/extension_packs.h"

namespace qs {

/// Reads the list `custom_modules` of a pack's JSON.
Result<std::vector<PackModuleSpec>> readModules(const JsonPlace& place, const std::string& pack);

} // namespace qs
