// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/error.h"

#include <string_view>

namespace qs {

/// The command-line option for extension packs, named in errors that a pack would resolve.
inline constexpr std::string_view kExtensionOption = "--extension DIR";
/// The hint if something in a file belongs to an extension pack.
inline constexpr const char* kLoadPackHint = "load the extension pack that has it: --extension DIR";

/// True if loading a pack would resolve the failure.
inline bool lacksPack(const Error& error)
{
    return error.hint.find(kExtensionOption) != std::string::npos
        || error.message.find(kExtensionOption) != std::string::npos;
}

} // namespace qs
