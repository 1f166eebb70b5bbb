// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/calibrate/corrected_shapes.h"
#include "engine/calibrate/data/dataset.h"

#include <ATen/core/ivalue.h>

#include <unordered_map>
#include <unordered_set>

namespace qs {

/// Looks whether values of a run have other sizes than their graph records. A size that is open in
/// the record fits any. Cheap enough for every value of a calibration.
class RecordedShapes
{
public:
    /// Before each batch.
    void begin(std::int64_t samples);
    void see(const Node& node, std::uint32_t output, const at::IValue& value);
    bool areContradicted() const { return !m_seen.empty(); }
    /// True if batches of as many samples gave it other sizes.
    bool varies(ValueRef value) const { return m_varying.contains(value); }

private:
    std::int64_t m_samples = -1; ///< of the first batch
    bool m_isAlike = true; ///< the batch at hand has as many
    std::unordered_map<ValueRef, std::vector<std::int64_t>> m_seen; ///< of what is contradicted
    std::unordered_set<ValueRef> m_varying;
};

/// Shapes of a file's record that its data contradict, in the order of the nodes. Runs the model on
/// the first batch, and on the last one if there are more, so that sizes that come out of the data
/// are not taken for the model's. Only where the inputs have the sizes that the file records; with
/// an open first dimension the second run has one sample less, which shows the sizes that follow
/// it. What varied in the run that `shapes` saw is left, and what nobody reads. Empty for a file
/// without a record of its own. Of graphs inside nodes nothing is corrected. Errors: the data's, a
/// cancel.
Result<std::vector<CorrectedShape>> contradictedShapes(const GraphPtr& model, const Dataset& data,
                                                       const RecordedShapes& shapes,
                                                       const JobContext& job);

/// One line on them, the first by name with both shapes.
std::string correctedShapesNote(const Graph& model, const std::vector<CorrectedShape>& corrected);

} // namespace qs
