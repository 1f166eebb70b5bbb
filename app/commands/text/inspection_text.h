// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/values/inspection_json.h"

#include <string>

namespace qs {

/// Formats an inspection as text and tables: the node's origin, its error, the worst channels with
/// the outliers, the worst samples, the weights, the requested sample.
std::string inspectionText(const InspectionParts& parts);

} // namespace qs
