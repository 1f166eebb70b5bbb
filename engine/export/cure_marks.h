// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/export/documents/result_writer.h"

#include <nlohmann/json.hpp>

namespace qs {

/// Adds the recipe's cures to a result document, whose `nodes[]` must be present. Adds `cures[]`:
/// each cure as in the recipe, with a description (`text`), the `nodes[]` that it names and the
/// `problem` for which it was left out. Adds `cure: {index, kind, by}` to each node, and to each
/// entry of a rule's `inputs[]`, that a cure decides. Adds nothing without cures.
void addCures(nlohmann::ordered_json& document, const ResultParts& parts);

} // namespace qs
