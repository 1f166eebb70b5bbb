// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/configure/edit_step.h"
#include "engine/graph/dtype.h"

#include <optional>
#include <vector>

namespace qs {

/// Whether the operator gives its input in another element type.
bool isCast(const std::string& target);

/// True if an operator can invert this one: quantizing and casts.
bool hasWayBack(const std::string& target);

/// An insertion together with the operator that leads back (dequantize with the same arguments, a
/// cast to `before`), as edits that fit one after the other: both are inserted without readers,
/// then the readers are fed. `backName`: of the second operator. Errors: no way back; a reader that
/// is an output of the model, which no edit feeds.
Result<std::vector<EditStep>> thereAndBack(const EditStep& there, DType before,
                                           const std::vector<ReaderAddress>& readers,
                                           const std::string& backName);

} // namespace qs
