// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/export/torchscript/script_builder.h"
#include "engine/graph/text/tree_spec.h"

namespace qs {

/// Declares the model's original arguments (names and nesting) on `forward` and binds the graph's
/// inputs to their leaves.
Result<void> declareInputs(ScriptBuilder& builder);

/// Packs the graph's outputs into the tuples, lists and mappings that the model returns.
Result<ScriptValue*> packOutputs(ScriptBuilder& builder);

} // namespace qs
