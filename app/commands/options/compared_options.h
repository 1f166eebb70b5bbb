// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace qs {

inline constexpr auto kAgainstOriginal = "original";

/// Adds `--against`: the reference of a comparison, "original" or "edited"; `against` stays empty
/// without it.
void addAgainstOption(CLI::App& verb, std::string& against);

/// Adds `--local-terms`: "sampled" or "all"; `terms` stays empty without it.
void addLocalTermsOption(CLI::App& verb, std::string& terms);

} // namespace qs
