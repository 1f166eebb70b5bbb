// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"

#include <string>

namespace qs {

/// The pytree text of a model's return (`ModelInfo::outputTree`) with one more leaf at its end: the
/// last item of a plain tuple, else of the pair of what was returned and it. `outputs`: leaves
/// before; an empty text is a lone leaf or a tuple.
std::string withLeaf(const std::string& tree, std::size_t outputs);
/// The same with a leaf less. Errors: it is in a container of a user's class.
Result<std::string> withoutLeaf(const std::string& tree, std::size_t outputs, std::size_t leaf);

} // namespace qs
