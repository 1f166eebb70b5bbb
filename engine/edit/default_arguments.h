// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/attribute.h"

#include <string>
#include <vector>

namespace qs {

/// The arguments of an operator that may be left out, with their defaults, in schema order; empty
/// for an operator that the dispatcher does not know. Looked up once for each operator; valid as
/// long as the process. Any thread.
const std::vector<NamedArgument>& defaultArguments(const std::string& target);

} // namespace qs
