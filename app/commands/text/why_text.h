// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/blame/why_json.h"

#include <cstddef>
#include <string>

namespace qs {

/// Formats the causes of the outputs' noise as a table of the `top` sites with the greatest shares.
/// `all`: the option that lists the others.
std::string whyText(const WhyParts& parts, std::size_t top, const std::string& all = "--top");

} // namespace qs
