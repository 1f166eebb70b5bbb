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
    std::string type; ///< "float32[16, 3, 3, 3]"; else its kind
    std::string text; ///< the value itself if it is a single number or not a tensor; else empty
    std::int64_t count = 0; ///< elements
    std::int64_t nonFinite = 0; ///< NaN or Inf among them; left out of what follows
    std::optional<double> min, max, mean;
    std::vector<double> first; ///< the first few elements in memory order
    std::vector<std::int64_t> histogram; ///< equal bins over [min, max]; empty for a few elements
    friend bool operator==(const ValuePreview&, const ValuePreview&) = default;
};

/// Summarizes a Parameter or Constant node's value; reads it from the file at first use. Any
/// thread. Errors: the node holds no value; those of the file's reader.
Result<ValuePreview> previewValue(const Graph& graph, NodeId node, const JobContext& job = {});

/// Every stored value that is a single number, as text, by its node. Values that cannot be read are
/// left out. Any thread.
using ScalarTexts = std::map<NodeId, std::string>;
Result<ScalarTexts> scalarTexts(const Graph& graph, const JobContext& job = {});

} // namespace qs
