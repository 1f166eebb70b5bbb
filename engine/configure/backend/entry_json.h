// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/json/json_reader.h"
#include "engine/configure/backend_config.h"

namespace qs {

/// "output_share_observer_with_input" ...
std::string_view observationTypeName(ObservationType type);

/// The entry as it stands under "patterns" of a backend's file; `readBackendPattern` reads it.
Json entryToJson(const BackendPattern& entry);

/// The same as text, and read back. Errors name `place`, such as "patterns[3]", and the key.
std::string entryText(const BackendPattern& entry);
Result<BackendPattern> parseEntry(const std::string& text, const std::string& place);

} // namespace qs
