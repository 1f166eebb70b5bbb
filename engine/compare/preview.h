// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/key.h"
#include "engine/compare/comparison.h"

#include <memory>
#include <string>
#include <vector>

namespace qs {

/// The errors of the reference form on a few samples: computed right after a decision, before the
/// whole comparison. A value; share as PreviewPtr.
struct Preview
{
    std::vector<NodeError> nodes; ///< as `Comparison::nodes`, the cumulative term alone
    std::vector<OutputError> outputs; ///< the reference form's alone
    std::int64_t samples = 0;
    Key samplesKey; ///< of their content and device: equal for previews of the same samples
    /// Float nodes whose ranges come only from these samples, because their observers have no
    /// statistics of the calibration data; in graph order.
    std::vector<std::string> estimated;

    const NodeError* tryGet(NodeId id) const;
    /// SQNR of the worst output; empty without signal.
    std::optional<double> outputDb() const;
};
using PreviewPtr = std::shared_ptr<const Preview>;

} // namespace qs
