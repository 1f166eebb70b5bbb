// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/pipeline/stages.h"

namespace qs {

// The keys under which results are kept: of what was really read, not of what decisions name.

/// Of a model as far as it is known: a run may have shown types that a TorchScript file leaves
/// open, and shapes that a file records wrong.
Key modelKey(const Graph& model);
Key planKey(const Graph& model, const Recipe& recipe);
/// Of data of this content, cut into so many batches.
Key batchesKey(const Key& content, CalibrationSettings cut, std::int64_t batches);
/// How the data of a comparison are cut: the calibration's batches, or all of the comparison's
/// own data.
CalibrationSettings comparedCut(const RunSettings& settings, CalibrationSettings cut);
/// Whether results are measured against the file's model: asked for, and another than this one.
bool measuresOriginal(const RunSettings& settings, const Graph& model);
Key conversionKey(const Calibration& calibration, const Recipe& recipe);

} // namespace qs
