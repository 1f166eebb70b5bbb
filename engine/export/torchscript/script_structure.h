// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/export/torchscript/script_builder.h"
#include "engine/graph/text/tree_spec.h"

namespace qs {

/// Gives `forward` the model's own arguments, by name and nesting, and binds the graph's inputs to
/// their leaves.
Result<void> declareInputs(ScriptBuilder& builder);

/// Packs the graph's outputs into the tuples, lists and mappings the model returns.
Result<ScriptValue*> packOutputs(ScriptBuilder& builder);

} // namespace qs
