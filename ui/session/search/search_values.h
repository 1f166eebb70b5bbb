// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/result.h"
#include "engine/graph/graph.h"

#include <QString>
#include <QStringList>

#include <optional>

namespace qs {

/// A bound that a number is compared with. A value.
struct Bound
{
    bool below = true;
    bool inclusive = false; ///< the bound itself holds too
    double at = 0;
    bool holds(double value) const
    {
        return below ? value < at || (inclusive && value == at)
                     : value > at || (inclusive && value == at);
    }
};

/// The test of `arg:` on an argument of a node. A value.
struct ArgumentTest
{
    QString name; ///< the name in the operator's schema; lower case
    std::optional<QStringList> values; ///< lower case; several: a list
    std::optional<Bound> bound; ///< with neither: the argument is given

    /// True if the node has the argument and it meets the test. An omitted argument has the default
    /// of the operator's schema; without values and bound the argument must be given. A list meets
    /// a single value or a bound if it is not empty and each of its items does.
    bool isMetBy(const Graph& graph, const Node& node) const;
};

/// Reads "stride", "stride=2", "stride=[2,2]", "eps<1e-4". Errors (Usage): one sentence.
Result<ArgumentTest> parseArgumentTest(const QString& text);

/// The pattern of `shape:`: one word per dimension, "*" for one or more of any size.
struct ShapePattern
{
    QStringList dims; ///< "scalar" alone: no dimensions
    /// False for a value that is not a tensor or has an unknown shape.
    bool isMetBy(const ValueType& type) const;
};

/// Reads "*x64x*", "8,64,56,56", "scalar". Errors (Usage): one sentence.
Result<ShapePattern> parseShapePattern(const QString& text);

/// Reads a number of bytes: "640"; "12k", "1M", "2G" and "1MiB" by 1024, as the graph's badges;
/// "1.5MB" by 1000. Case does not matter. Nothing for other texts.
std::optional<double> parseBytes(const QString& text);

/// Reads seconds: "2ms", "500us", "1.5s". Nothing for other texts.
std::optional<double> parseSeconds(const QString& text);

/// Reads a share: "5%" is 0.05. Nothing for other texts.
std::optional<double> parseShare(const QString& text);

} // namespace qs
