// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/json/json_reader.h"
#include "engine/configure/extension_packs.h"

namespace qs {

/// Reads an operator's key `results`: one entry per result, `{"shape": "x"}`, `{"shape":
/// [{"argument": "x", "dimension": 0}, 8], "dtype": "int64"}`, `{"shape": {"operator":
/// "mypack::window_shape"}}`.
Result<PackShapes> readResults(const JsonPlace& place, const std::string& op);

} // namespace qs
