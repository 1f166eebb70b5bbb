// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/train/training.h"

#include <string>

namespace qs {

/// The points of a training as a table (of many, some), then what it reached and how to use the
/// recipe at `path`.
std::string trainText(const Training& training, const std::string& path);

} // namespace qs
