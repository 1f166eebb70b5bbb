// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/calibrate/calibrator.h"
#include "engine/pipeline/stage_chain.h"

#include <unordered_map>

namespace qs {

/// One requested calibration, up to the point where data run.
struct StageChain::Run
{
    PreparedPtr prepared;
    std::shared_ptr<const Dataset> data;
    DeviceChoice device;
    Key dataKey; ///< content and cut
    Key resumeKey; ///< independent of the number of batches, if it changes no batch
    Key key; ///< of the calibration
    std::unordered_map<ObserverId, Key> seen; ///< by observer: key of its cached statistics
    double prepareSeconds = 0;

    Key amountKey() const { return KeyBuilder("amount").add(dataKey).key(); }
};

/// Bytes that releasing a graph would free, roughly: its nodes and the tensors that it alone holds.
std::size_t heldBytes(const Graph& graph);

} // namespace qs
