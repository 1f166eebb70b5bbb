// SPDX-License-Identifier: Apache-2.0
#include "engine/calibrate/data/sample_dataset.h"

#include "engine/calibrate/data/call_dataset.h"
#include "engine/import/archive/sample_inputs.h"

namespace qs {

Result<std::unique_ptr<Dataset>> openSampleDataset(const Graph& graph,
                                                   const DatasetOptions& options)
{
    QS_TRY(std::vector<at::IValue> inputs, readSampleInputs(graph));
    return makeCallDataset({{inputs.begin(), inputs.end()}}, graph, options);
}

} // namespace qs
