// SPDX-License-Identifier: Apache-2.0
#include "engine/pipeline/metric/measure_metric.h"

#include "engine/base/files/temporary_folder.h"
#include "engine/compare/collect_outputs.h"

namespace qs {

Result<double> measureMetric(const GraphPtr& graph, const Dataset& data,
                             const std::vector<std::string>& outputNames, const UserMetric& metric,
                             const JobContext& job)
{
    QS_TRY(const TemporaryFolder folder, TemporaryFolder::create("metric"));
    const std::string file = folder.file("outputs.npz");
    QS_CHECK(writeOutputs(graph, data, outputNames, file, job));
    return metric(file, job);
}

} // namespace qs
