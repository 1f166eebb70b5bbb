// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/export/torchscript/script_builder.h"

namespace qs {

/// Writes a `kRecurTarget` node as a TorchScript loop over the first dimension of its sequence, and
/// binds its outputs.
Result<void> emitRecurrence(ScriptBuilder& builder, const Node& node);

} // namespace qs
