// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/json/json_reader.h"
#include "engine/configure/recipe.h"

namespace qs {

/// Reads a recipe's "calibration". Errors name the key.
Result<CalibrationSettings> readCalibration(const JsonPlace& place);
Json calibrationToJson(const CalibrationSettings& settings);
Json imagePreprocessToJson(const ImagePreprocess& preprocess);

} // namespace qs
