// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/attribute.h"

#include <string>
#include <vector>

namespace qs {

/// Returns an operator's optional arguments with their defaults, in schema order; empty for an
/// operator unknown to the dispatcher. Cached; valid until the process ends. Any thread.
const std::vector<NamedArgument>& defaultArguments(const std::string& target);

} // namespace qs
