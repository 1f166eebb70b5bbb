// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"

#include <string>

namespace qs {

/// Runs the user's own metric: `command FILE` in a shell, where FILE holds a model's outputs as an
/// .npz; what it prints first must be one number. Errors: it fails, or prints something else.
Result<double> runUserMetric(const std::string& command, const std::string& file);

} // namespace qs
