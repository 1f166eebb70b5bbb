// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/compare/comparison.h"

#include <nlohmann/json.hpp>

namespace qs {

/// `{count, equal, mean, max, histogram[]}`: elements by their difference in steps; the histogram
/// goes from -8 and less to 8 and more.
nlohmann::ordered_json stepsJson(const StepCounts& steps);
/// The same back. Throws Json's exceptions where a key is missing or of another type.
StepCounts stepsFromJson(const nlohmann::ordered_json& json);

/// The steps of a departure and, where they are known, `reference_db` and `lowered_db`: how far
/// each form is from the float model.
nlohmann::ordered_json departureJson(const FormDeparture& departure);
/// The same back, of the node. Throws as `stepsFromJson` does.
FormDeparture departureFromJson(NodeId node, const nlohmann::ordered_json& json);

} // namespace qs
