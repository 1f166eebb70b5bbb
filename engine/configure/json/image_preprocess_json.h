// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/configure/image_preprocess.h"
#include "engine/configure/json/json_reader.h"

namespace qs {

/// Reads "calibration.preprocess". Errors name the key.
Result<ImagePreprocess> readImagePreprocess(const JsonPlace& place);
Json imagePreprocessToJson(const ImagePreprocess& preprocess);

} // namespace qs
