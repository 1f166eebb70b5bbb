// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"

#include <string>

namespace qs {

/// Returns the pytree text of a model's return (`ModelInfo::outputTree`) with an appended leaf: the
/// last item of a plain tuple, else a pair of the old return and the leaf. `outputs`: number of
/// leaves before; an empty text is a single leaf or a tuple.
std::string withLeaf(const std::string& tree, std::size_t outputs);
/// The same with one leaf removed. Fails if the leaf is in a container of a user's class.
Result<std::string> withoutLeaf(const std::string& tree, std::size_t outputs, std::size_t leaf);

} // namespace qs
