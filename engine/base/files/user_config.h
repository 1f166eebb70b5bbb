// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace qs {

/// The path of one of this program's files in the user's configuration folder
/// (`$XDG_CONFIG_HOME/quantscope`, else `~/.config/quantscope`); empty where the user has none.
std::string userConfigFile(const std::string& name);

} // namespace qs
