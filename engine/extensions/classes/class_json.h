// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/json/json_reader.h"
#include "engine/configure/extension_packs.h"

namespace qs {

/// Reads the list `classes` of a pack's JSON.
Result<std::vector<PackClassSpec>> readClasses(const JsonPlace& place);

} // namespace qs
