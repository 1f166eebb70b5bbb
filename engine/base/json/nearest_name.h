// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace qs {

/// Returns the candidate with the smallest edit distance to `word`; empty if none is close enough.
std::string nearestName(std::string_view word, const std::vector<std::string>& candidates);

/// Returns "did you mean 'x'?" if a candidate is near, else "one of: a, b, c" (at most `most`
/// names).
std::string suggestName(std::string_view word, const std::vector<std::string>& candidates,
                        std::size_t most = 24);

} // namespace qs
