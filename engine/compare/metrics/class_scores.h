// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph.h"

#include <cstdint>
#include <vector>

namespace qs {

/// How surely an output holds scores of classes, so that the highest means something.
enum class ClassScores : std::uint8_t
{
    Unlikely, ///< nothing says so: coordinates, embeddings, regression
    Likely, ///< its last layer is called as classifiers often call it ("fc", "head")
    Sure ///< a softmax, or a layer or output that is called so ("classifier", "logits")
};

/// Columns from which on `Likely` counts: regression has few.
inline constexpr std::int64_t kColumnsOfClasses = 5;

/// Of one value that a model returns, by its name and its producer.
ClassScores classScores(const Graph& graph, ValueRef value);
/// Of each output, flat and in order.
std::vector<ClassScores> classScores(const Graph& graph);

} // namespace qs
