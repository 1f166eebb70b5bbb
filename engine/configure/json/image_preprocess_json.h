// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/json/json_reader.h"
#include "engine/configure/image_preprocess.h"

namespace qs {

/// Reads "calibration.preprocess". Errors name the key.
Result<ImagePreprocess> readImagePreprocess(const JsonPlace& place);
Json imagePreprocessToJson(const ImagePreprocess& preprocess);

} // namespace qs
