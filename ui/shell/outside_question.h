// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include <functional>
#include <string>
#include <vector>

namespace qs {

class MessageBar;

/// Returns true if the user confirmed that the recipe or project `file` may read the files
/// `outside` its folder (`pathsOutside`). Else the message bar asks; a yes is stored on this
/// machine and runs `goOn`. GUI thread only.
bool mayReadOutside(MessageBar& messages, const QString& file, std::vector<std::string> outside,
                    std::function<void()> goOn);

} // namespace qs
