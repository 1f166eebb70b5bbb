// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace qs {

/// Returns the path of a file in the user's configuration folder (`$XDG_CONFIG_HOME/quantscope`,
/// else `~/.config/quantscope`); empty if the user has none.
std::string userConfigFile(const std::string& name);

} // namespace qs
