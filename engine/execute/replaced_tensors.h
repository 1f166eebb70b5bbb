// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/value.h"

#include <string>
#include <vector>

namespace qs {

class GraphEdit;

/// Identifies, for `Node::tensorSha256` of a tensor computed from these values, the stored tensors
/// below them that an edit replaced. Empty if none was replaced; empty references are skipped.
std::string replacedTensorsBelow(const GraphEdit& edit, const std::vector<ValueRef>& values);

} // namespace qs
