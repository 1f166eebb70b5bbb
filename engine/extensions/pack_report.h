// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/configure/extension_packs.h"

namespace qs {

/// One thing that a pack adds: "operator", "mypack::linear (input x, weight weight)".
struct PackAddition
{
    std::string kind, text;
};

/// Libraries, scripts, operators and their results, patterns, lowering rows and custom modules, in
/// this order.
std::vector<PackAddition> packAdditions(const ExtensionPack& pack);
/// Name, place, hash and what the pack adds, one thing a line: "operator  mypack::linear (input x,
/// weight weight)".
std::string packText(const ExtensionPack& pack);
/// The same as a JSON document.
std::string packJson(const ExtensionPack& pack);

} // namespace qs
