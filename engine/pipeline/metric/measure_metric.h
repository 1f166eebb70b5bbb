// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/calibrate/data/dataset.h"
#include "engine/graph/graph.h"
#include "engine/pipeline/metric/user_metric.h"

#include <string>
#include <vector>

namespace qs {

/// Runs all data through the graph, writes its outputs to a temporary file (`writeOutputs`) and
/// returns the metric's value for it. Errors: those of the nodes, of the file and of the metric.
Result<double> measureMetric(const GraphPtr& graph, const Dataset& data,
                             const std::vector<std::string>& outputNames, const UserMetric& metric,
                             const JobContext& job);

} // namespace qs
