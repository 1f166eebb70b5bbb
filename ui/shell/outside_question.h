// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include <functional>
#include <string>
#include <vector>

namespace qs {

class MessageBar;

/// Whether the recipe or project `file` may have the files `outside` its folder read
/// (`pathsOutside`). Where the user has not confirmed them yet: false, and the message bar asks; a
/// yes is remembered on this machine and runs `goOn`. GUI thread only.
bool mayReadOutside(MessageBar& messages, const QString& file, std::vector<std::string> outside,
                    std::function<void()> goOn);

} // namespace qs
