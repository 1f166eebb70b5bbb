// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/calibrate/corrected_shapes.h"
#include "engine/calibrate/data/dataset.h"

#include <ATen/core/ivalue.h>

#include <unordered_map>
#include <unordered_set>

namespace qs {

class Unpacker;

/// Compares the sizes of a run's values with those recorded in the graph. A symbolic size matches
/// any number. Cheap enough for every value of a calibration.
class RecordedShapes
{
public:
    /// Call before each batch.
    void begin(std::int64_t samples);
    void see(const Node& node, std::uint32_t output, const at::IValue& value);
    bool areContradicted() const { return !m_seen.empty(); }
    /// True if the value's sizes differ between batches with equal numbers of samples.
    bool varies(ValueRef value) const { return m_varying.contains(value); }

    /// What this rank saw, for the others.
    std::string packed() const;
    /// What all ranks saw, in their order: as in one process, in batches of as many samples as the
    /// first one. Errors (Internal): damaged bytes.
    static Result<RecordedShapes> united(const std::vector<std::string>& ranks);

private:
    Result<void> add(Unpacker& in);

    std::int64_t m_samples = -1; ///< samples of the first batch
    bool m_isAlike = true; ///< the current batch has the same number of samples
    /// Sizes that contradict the record.
    std::unordered_map<ValueRef, std::vector<std::int64_t>> m_seen;
    std::unordered_set<ValueRef> m_varying;
};

/// Returns the recorded shapes that the data contradict, in node order. Runs the model on the first
/// batch and, if there are more, on the last, to exclude data-dependent sizes. With a symbolic
/// first dimension, the second run has one sample less, which shows the sizes that depend on it.
/// Excludes values that varied in the run recorded in `shapes`, values without consumers, and
/// graphs inside nodes. Empty if the inputs differ from the recorded sizes, or if the file has no
/// record. Errors: the data's; Cancelled.
Result<std::vector<CorrectedShape>> contradictedShapes(const GraphPtr& model, const Dataset& data,
                                                       const RecordedShapes& shapes,
                                                       const JobContext& job);

/// Returns a one-line note on the corrected shapes; names the first with both shapes.
std::string correctedShapesNote(const Graph& model, const std::vector<CorrectedShape>& corrected);

} // namespace qs
