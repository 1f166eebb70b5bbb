// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/json/json_reader.h"
#include "engine/base/result.h"
#include "engine/train/training.h"

#include <string>

namespace qs {

/// What a checkpoint of a training says about it. A value.
struct InterruptedTraining
{
    TrainingSettings settings; ///< without the device
    bool fromScratch = false; ///< it started without a calibration's ranges
    int steps = 0; ///< that ran
};

/// The array of a checkpoint that holds everything but tensors, as JSON.
inline constexpr const char* kCheckpointFacts = "facts";

/// Reads a checkpoint without its tensors. Errors: no file (NotFound), another file or one without
/// the settings (BadInput); they name the file.
Result<InterruptedTraining> readInterrupted(const std::string& path);

/// The settings without the device, as in the document of a training.
Json trainingSettingsJson(const TrainingSettings& settings);

} // namespace qs
