// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/configure/extension_packs.h"

namespace qs {

inline constexpr const char* kPackFile = "extension.json";

/// Reads `extension.json` of the folder (resources/help/extensions.md) and the hashes of its
/// libraries; loads and runs nothing. Errors (NotFound, BadInput, Io) name the file and the place
/// in it; a pack for another version of torch is one.
Result<ExtensionPack> readPack(const std::string& folder, const JobContext& job = {});

} // namespace qs
