// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/values/inspection_json.h"

#include <string>

namespace qs {

/// An inspection in words and tables: where the node comes from, its error, the channels that lose
/// most with the outliers named, the worst samples, the weights, the requested sample.
std::string inspectionText(const InspectionParts& parts);

} // namespace qs
