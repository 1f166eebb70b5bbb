// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/json/json_reader.h"

namespace qs {

/// True for the JSON of torch.ao's `BackendConfig.to_dict()`, written with `default=str` or
/// `default=repr`, or by hand with plain names.
bool isBackendDump(const Json& value);

/// Converts the dump to this program's backend format. Keeps the order of entries and duplicate
/// patterns. Drops the getters that PyTorch stores next to a nested pattern, since they follow from
/// it. Errors name the entry and its unreadable part.
Result<Json> importBackend(const JsonPlace& dump);

} // namespace qs
