// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph.h"

#include <cstdint>
#include <vector>

namespace qs {

/// Whether an output holds class scores, for which the highest score is meaningful.
enum class ClassScores : std::uint8_t
{
    Unlikely, ///< without an indication: coordinates, embeddings, regression
    Likely, ///< the last layer has a name that is frequent in classifiers ("fc", "head")
    Sure ///< a softmax, or a layer or output with a clear name ("classifier", "logits")
};

/// Least number of columns for which `Likely` counts; regression outputs have few columns.
inline constexpr std::int64_t kColumnsOfClasses = 5;

/// Judges one value that a model returns, by its name and its producer.
ClassScores classScores(const Graph& graph, ValueRef value);
/// Judges each output, flattened and in order.
std::vector<ClassScores> classScores(const Graph& graph);

} // namespace qs
