// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/graph/text/node_titles.h"

#include <string>

namespace qs {

/// "head" for "head.post_process()": the module that an entry's path names or lies in.
std::string moduleOfPath(const std::string& entryPath);

} // namespace qs
