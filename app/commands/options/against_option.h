// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace qs {

inline constexpr auto kAgainstOriginal = "original";

/// `--against`: the reference of a comparison, "original" or "edited"; `against` stays empty
/// without it.
void addAgainstOption(CLI::App& verb, std::string& against);

} // namespace qs
