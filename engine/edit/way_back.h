// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/configure/edit_step.h"
#include "engine/graph/dtype.h"

#include <optional>
#include <vector>

namespace qs {

/// True if the operator returns its input in another element type.
bool isCast(const std::string& target);

/// True for operators that can be inverted: quantize and casts.
bool hasWayBack(const std::string& target);

/// Returns an insertion and the insertion of its inverse operator (dequantize with the same
/// arguments, a cast to `before`) as a sequence of edits: both are inserted without consumers, then
/// the consumers are connected. `backName`: name of the second operator. Fails without an
/// inverse, or if a consumer is an output of the model, which edits cannot reconnect.
Result<std::vector<EditStep>> thereAndBack(const EditStep& there, DType before,
                                           const std::vector<ReaderAddress>& readers,
                                           const std::string& backName);

} // namespace qs
