// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

namespace qs {

/// The verbs that open a model: each has the options for limits, packs and outside
/// files.
inline constexpr std::array kModelVerbs {"inspect", "plan", "edit",  "quantize", "compare", "look",
                                         "why",     "tune", "train", "verify",   "check"};

/// Those that share their data among the ranks that a launcher starts.
inline constexpr std::array kRankVerbs {"quantize", "compare", "check", "tune"};
/// Those that run in one process, and would do their work once for each rank.
inline constexpr std::array kAloneVerbs {"look", "why", "train", "verify"};

} // namespace qs
