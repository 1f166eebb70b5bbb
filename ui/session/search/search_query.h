// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/pattern.h"
#include "ui/session/facts.h"
#include "ui/session/search/search_values.h"

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
        Sqnr, ///< the SQNR of `error` lies within `bound`, in dB
        Argument, ///< a member has an argument that meets `argument`
        Shape, ///< a member makes a value whose shape meets `shape`
        Bytes, ///< its memory (`memoryOf`) is within `bound`
        Seconds, ///< the measured time of its float operators lies within `bound`
        Share, ///< its part of the time of all units
        Bookmark,
        Edited ///< an edit of the graph changed or added it
    };
    Kind kind = Kind::Text;
    bool negated = false;
    QString text; ///< lower case, but for a module's path
    std::optional<Pattern> regex;
    ErrorTerm error = ErrorTerm::BornHere;
    Bound bound; ///< of a figure
    ArgumentTest argument;
    ShapePattern shape;
};

/// A query: finds nodes that meet every term. Empty finds nothing.
struct SearchQuery
{
    std::vector<SearchTerm> terms;
};

/// Reads a search expression: words, "quoted words", /regex/, op:, module:, qconfig:, verdict:,
/// dtype:, arg:, shape:, is:bookmark, is:edited, sqnr<30 (also born, isolated, inherited,
/// cumulative), bytes>1M, time>5% or time>2ms (each with < <= > >=); a leading minus negates a
/// term. Case does not matter. A regex is a `Pattern`, as in the rules of a recipe. Pure. Errors
/// (Usage): one sentence with the term and the correct syntax.
Result<SearchQuery> parseSearch(const QString& expression);

/// Returns the error of an expression and its remedy, in one line.
QString searchProblem(const Error& error);

/// Returns one line that explains the terms.
QString searchHint();

} // namespace qs
