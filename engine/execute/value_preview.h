// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/graph/graph.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace qs {

/// Summary of a parameter, buffer or constant. A value.
struct ValuePreview
{
    std::string type; ///< "float32[16, 3, 3, 3]"; for other values the kind
    std::string text; ///< the value itself if it is a single number or not a tensor; else empty
    std::int64_t count = 0; ///< elements
    std::int64_t nonFinite = 0; ///< number of NaN and Inf, which the members below leave out
    std::optional<double> min, max, mean;
    std::vector<double> first; ///< the first few elements in memory order
    std::vector<std::int64_t> histogram; ///< equal bins over [min, max]; empty for a few elements
    friend bool operator==(const ValuePreview&, const ValuePreview&) = default;
};

/// Summarizes a Parameter or Constant node's value; reads it from the file at first use. Any
/// thread. Errors: the node holds no value; those of the file's reader.
Result<ValuePreview> previewValue(const Graph& graph, NodeId node, const JobContext& job = {});

/// Texts of stored values that are single numbers, by node.
using ScalarTexts = std::map<NodeId, std::string>;
/// Every stored value that is a single number. Leaves out values that cannot be read. Any thread.
Result<ScalarTexts> scalarTexts(const Graph& graph, const JobContext& job = {});

} // namespace qs
