// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/configure/extension_packs.h"

namespace qs {

inline constexpr const char* kPackFile = "extension.json";

/// Reads `extension.json` of the folder (resources/help/extensions.md) and hashes its libraries;
/// loads and runs nothing. Errors (NotFound, BadInput, Io) name the file and the place in it. Fails
/// for a pack built for another torch version.
Result<ExtensionPack> readPack(const std::string& folder, const JobContext& job = {});

} // namespace qs
