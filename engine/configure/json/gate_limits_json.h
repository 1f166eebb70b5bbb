// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/json/json_reader.h"
#include "engine/configure/gate_limits.h"

namespace qs {

/// `{"preset": "detection", "min_sqnr": 30, "min_cosine": 0.99, "max_drop": 0.5, "min_coverage":
/// 90, "nodes": {"head": 35}}`: the key "limits" of a recipe. Resolves the preset. Fails on an
/// unknown key or preset, or a value that is not a number.
Result<GateLimits> readLimits(const JsonPlace& place);
/// Returns the limits that are set, without the preset's name; parses back to equal limits.
Json limitsToJson(const GateLimits& limits);

} // namespace qs
