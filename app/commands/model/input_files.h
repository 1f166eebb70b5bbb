// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"

#include <string>
#include <vector>

namespace qs {

/// Fails (Usage, naming the file) if an output file of `option` is also an input file. Ignores
/// empty paths and files that do not exist.
Result<void> checkSpared(const std::string& option, const std::vector<std::string>& written,
                         const std::vector<std::string>& read);

} // namespace qs
