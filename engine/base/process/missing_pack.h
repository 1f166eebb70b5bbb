// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/error.h"

#include <string_view>

namespace qs {

/// The command-line option for an extension pack, named in errors that a pack would cure.
inline constexpr std::string_view kExtensionOption = "--extension DIR";
/// The hint where something in a file is an extension pack's.
inline constexpr const char* kLoadPackHint = "load the extension pack that has it: --extension DIR";

/// Whether a pack would cure the failure.
inline bool lacksPack(const Error& error)
{
    return error.hint.find(kExtensionOption) != std::string::npos
        || error.message.find(kExtensionOption) != std::string::npos;
}

} // namespace qs
