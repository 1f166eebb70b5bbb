// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"

#include <memory>
#include <string>
#include <string_view>

namespace re2 {
class RE2;
}

namespace qs {

/// A regular expression in RE2's syntax: Perl's and Python's without lookaround `(?=...)` and
/// without backreferences `\1`. Matching time is linear in the text and memory is bounded for any
/// expression. A value type; any thread.
class Pattern
{
public:
    /// Fails (BadInput) if the expression is invalid or compiles to too much memory; the error
    /// quotes it and names the fault.
    static Result<Pattern> compile(const std::string& expression, bool ignoreCase = false);

    /// True if the text begins with a match, as Python's `re.match`.
    bool matchesBegin(std::string_view text) const;
    /// True if there is a match anywhere in the text.
    bool isFoundIn(std::string_view text) const;

private:
    std::shared_ptr<const re2::RE2> m_compiled;
};

} // namespace qs
