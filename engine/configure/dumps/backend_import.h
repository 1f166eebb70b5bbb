// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/json/json_reader.h"

namespace qs {

/// True for the JSON of torch.ao's `BackendConfig.to_dict()`, made with `default=str` or
/// `default=repr`, or by hand with plain names.
bool isBackendDump(const Json& value);

/// The dump as a backend file of ours. Entries keep their order, and a pattern that the dump holds
/// twice stays twice. The getters that PyTorch keeps beside a nested pattern follow from the
/// pattern and are dropped. Errors name the entry and its unreadable part.
Result<Json> importBackend(const JsonPlace& dump);

} // namespace qs
