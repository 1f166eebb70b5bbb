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
/// without backreferences `\1`. Its time grows with the text alone, its memory is bounded, whatever
/// the expression. A value; any thread.
class Pattern
{
public:
    /// The error (BadInput) quotes the expression and says what is wrong, or that it becomes too
    /// large.
    static Result<Pattern> compile(const std::string& expression, bool ignoreCase = false);

    /// Whether the text begins with a match, as Python's `re.match`.
    bool matchesBegin(std::string_view text) const;
    /// Whether a match is anywhere in the text.
    bool isFoundIn(std::string_view text) const;

private:
    std::shared_ptr<const re2::RE2> m_compiled;
};

} // namespace qs
