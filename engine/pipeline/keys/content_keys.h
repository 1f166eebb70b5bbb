// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/blame/blame.h"
#include "engine/pipeline/stages.h"

namespace qs {

// Keys of cached results. They depend on the content that was read, not on its name or path.

/// Key of a model, including its types and shapes: a run may have found types that a TorchScript
/// file does not state, or corrected shapes.
Key modelKey(const Graph& model);
Key planKey(const Graph& model, const Recipe& recipe);
/// Key of data of this content, cut into this number of batches.
Key batchesKey(const Key& content, CalibrationSettings cut, std::int64_t batches);
/// How the data of a comparison are cut: the calibration's batches, or all of the comparison's
/// own data.
CalibrationSettings comparedCut(const RunSettings& settings, CalibrationSettings cut);
/// Whether results are measured against the file's model: requested, or needed because `model` is
/// trained, and it differs from `model`.
bool measuresOriginal(const RunSettings& settings, const Graph& model);
Key conversionKey(const Calibration& calibration, const Recipe& recipe);
/// Key of a blame over the data of that comparison.
Key blameKey(const Key& comparison, const BlameOptions& options);
/// Key of the diagnosis for a comparison. `eightBitsHold`: the processor's kernels support all
/// eight bits.
Key diagnosisKey(const Key& comparison, const BlameOptions& options, bool eightBitsHold);

} // namespace qs
