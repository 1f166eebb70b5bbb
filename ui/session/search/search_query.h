// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/pattern.h"
#include "ui/session/facts.h"

#include <QString>

#include <optional>
#include <vector>

namespace qs {

/// One condition of a search. A value.
struct SearchTerm
{
    enum class Kind
    {
        Text, ///< `text` is part of a name or module path
        Regex, ///< `regex` is found in a name, a module path or an operator's label
        Op, ///< `text` is part of an operator's name
        Module, ///< inside the module `text`
        QConfig, ///< the qconfig's name begins with `text`
        Verdict, ///< the verdict's name begins with `text`
        DType, ///< a dtype that the node's output or weight has begins with `text`
        Sqnr, ///< the SQNR of `error` lies below (or above) `bound`
        Bookmark,
        Edited ///< an edit of the graph changed or added it
    };
    Kind kind = Kind::Text;
    bool negated = false;
    QString text; ///< lower case, but for a module's path
    std::optional<Pattern> regex;
    ErrorTerm error = ErrorTerm::BornHere;
    bool below = true;
    bool inclusive = false; ///< the bound itself is taken too
    double bound = 0; ///< dB
};

/// What is looked for: nodes that meet every term. Empty finds nothing.
struct SearchQuery
{
    std::vector<SearchTerm> terms;
};

/// Reads a search expression: words, "quoted words", /regex/, op:, module:, qconfig:, verdict:,
/// dtype:, is:bookmark, is:edited, sqnr<30 (also born, isolated, inherited, cumulative; <= > >=); a
/// minus in front turns a term round. Case does not matter. A regex is a `Pattern`, as in the rules
/// of a recipe. Pure. Errors (Usage): one sentence that names the term and says how it is written.
Result<SearchQuery> parseSearch(const QString& expression);

/// What is wrong with an expression and what to do, in one line.
QString searchProblem(const Error& error);

/// One line that teaches the terms.
QString searchHint();

} // namespace qs
