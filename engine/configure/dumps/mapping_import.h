// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/json/json_reader.h"

#include <map>
#include <string>

namespace qs {

/// True for the JSON of torch.ao's `QConfigMapping.to_dict()` (written with `default=str` or
/// `default=repr`), and for the older qconfig_dict of the same form. Recognized by a global qconfig
/// under the empty key, or by a qconfig that is a pair instead of a name.
bool isMappingDump(const Json& value);

/// A dumped mapping in the format of recipes.
struct ImportedMapping
{
    Json mapping; ///< as under "mapping"
    Json qconfigs; ///< qconfigs other than presets, as under "qconfigs"
    std::string summary; ///< "global qconfig x86 with its default entries, 2 module_name rules"
};
/// Translates the dump. Accepts observers as printed by Python, as in recipes, or as the name of a
/// preset with or without "_qconfig". If the dump has every entry of a default mapping, the result
/// names that mapping and keeps only the differences as rules. Imported qconfigs do not use names
/// in `taken`. Errors name the place and its unreadable part.
Result<ImportedMapping> importMapping(const JsonPlace& dump, const Json& taken);

} // namespace qs
