// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/json/json_reader.h"
#include "engine/configure/backend_config.h"

namespace qs {

/// "output_share_observer_with_input" ...
std::string_view observationTypeName(ObservationType type);

/// Returns the entry's JSON under "patterns" of a backend file; `readBackendPattern` reads it.
Json entryToJson(const BackendPattern& entry);

/// The entry's JSON as text, and its parser. Errors name `place`, such as "patterns[3]", and the
/// key.
std::string entryText(const BackendPattern& entry);
Result<BackendPattern> parseEntry(const std::string& text, const std::string& place);

} // namespace qs
