// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/blame/why_json.h"

#include <cstddef>
#include <string>

namespace qs {

/// Who causes the noise of the outputs, as a table of the `top` sites with the greatest shares.
std::string whyText(const WhyParts& parts, std::size_t top);

} // namespace qs
