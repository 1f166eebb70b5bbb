// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/json/json_reader.h"

#include <map>
#include <string>

namespace qs {

/// True for the JSON of torch.ao's `QConfigMapping.to_dict()` (made with `default=str` or
/// `default=repr`), and for the older qconfig_dict, which has the same form: its global qconfig
/// stands under the empty key, or a qconfig is a pair and not a name.
bool isMappingDump(const Json& value);

/// A dumped mapping in a recipe's words.
struct ImportedMapping
{
    Json mapping; ///< as under "mapping"
    Json qconfigs; ///< its qconfigs that are not presets, as under "qconfigs"
    std::string summary; ///< "global qconfig x86 with its default entries, 2 module_name rules"
};
/// Translates the dump. Observers are given as Python prints them, as observers of a recipe, or as
/// the name of a preset with or without "_qconfig". A dump that holds every entry of a default
/// mapping becomes its name; what differs stays as rules. Errors name the place and its unreadable
/// part. Names in `taken` are not given to the imported qconfigs.
Result<ImportedMapping> importMapping(const JsonPlace& dump, const Json& taken);

} // namespace qs
