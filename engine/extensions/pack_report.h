// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/configure/extension_packs.h"

namespace qs {

/// What a pack adds, one thing a line: "operator  mypack::linear (input x, weight weight)".
std::string packText(const ExtensionPack& pack);
/// The same as a JSON document.
std::string packJson(const ExtensionPack& pack);

} // namespace qs
