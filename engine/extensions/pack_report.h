// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/configure/extension_packs.h"

namespace qs {

/// One addition of a pack: "operator", "mypack::linear (input x, weight weight)".
struct PackAddition
{
    std::string kind, text;
};

/// Returns libraries, scripts, operators and their results, patterns, lowering rows and custom
/// modules, in this order.
std::vector<PackAddition> packAdditions(const ExtensionPack& pack);
/// Returns name, folder, hash and additions of the pack, one per line: "operator mypack::linear
/// (input x, weight weight)".
std::string packText(const ExtensionPack& pack);
/// The same as a JSON document.
std::string packJson(const ExtensionPack& pack);

} // namespace qs
