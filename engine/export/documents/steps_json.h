// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/execute/steps/step_counts.h"

#include <nlohmann/json.hpp>

namespace qs {

/// `{count, equal, mean, max, histogram[]}`: elements by their difference in steps; the histogram
/// goes from -8 and less to 8 and more.
nlohmann::ordered_json stepsJson(const StepCounts& steps);
/// The same back. Throws Json's exceptions where a key is missing or of another type.
StepCounts stepsFromJson(const nlohmann::ordered_json& json);

} // namespace qs
