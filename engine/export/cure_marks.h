// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/export/documents/result_writer.h"

#include <nlohmann/json.hpp>

namespace qs {

/// Adds the recipe's cures to a result document that has its `nodes[]`: `cures[]`, each as in the
/// recipe, with `text` in words, the `nodes[]` that it names and the `problem` for which it was
/// left out; and `cure: {index, kind, by}` at each node, and at each entry of a rule's
/// `inputs[]`, that a cure decides. Adds nothing without cures.
void addCures(nlohmann::ordered_json& document, const ResultParts& parts);

} // namespace qs
