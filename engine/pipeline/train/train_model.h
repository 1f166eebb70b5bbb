// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/json/json_reader.h"
#include "engine/pipeline/stages.h"

namespace qs {

/// The document of a training ("quantscope.training", version 1).
Json trainingJson(const TrainRequest& request, const Training& training);

} // namespace qs
