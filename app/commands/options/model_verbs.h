// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

namespace qs {

/// The verbs that open a model: what limits a run, loads packs or lets files be read is an option
/// of each.
inline constexpr std::array kModelVerbs {"inspect", "plan", "edit", "quantize", "compare",
                                         "look",    "why",  "tune", "verify",   "check"};

} // namespace qs
