// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/values/look_json.h"

#include <string>

namespace qs {

/// A look in words and tables: where the node comes from, its error, the channels that lose most
/// with the outliers named, the worst samples, the weights, the sample that was asked for.
std::string lookText(const LookParts& parts);

} // namespace qs
