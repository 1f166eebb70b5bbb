// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/graph/operators/short_name.h"

#include <string>

namespace qs {

/// "head" for "head.post_process()": the module that an entry's path names or lies in.
std::string moduleOfPath(const std::string& entryPath);
/// Digits only.
bool isNumber(const std::string& text);
/// The path that two dotted paths begin with.
std::string commonPath(const std::string& a, const std::string& b);

} // namespace qs
