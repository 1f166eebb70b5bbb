// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/import/torchscript/walk/torchscript_evaluator.h"

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace qs {

/// The arguments of the model's forward as inputs of the graph, and its return value as outputs;
/// both with their structure as pytree JSON, as a .pt2 has it.
struct ScriptInputs
{
    std::vector<ScriptItem> items; ///< one per argument after `self`
    std::string tree; ///< of (args, kwargs)
    std::vector<std::string> fixed; ///< arguments that keep their default
};

/// Declares the inputs. An argument with a default value keeps it. How long a list or which keys a
/// dict has follows from the traced example or from how forward takes it apart. Errors
/// (Unsupported): an argument that no tensor data can give, such as a string.
Result<ScriptInputs> declareScriptInputs(torch::jit::Function& forward,
                                         const std::vector<at::IValue>& traced, ScriptScope& root);

/// Adds the Output node for forward's return value; the tree's text.
Result<std::string> declareScriptOutput(ScriptEvaluator& evaluator, const ScriptItem& returned,
                                        ScriptScope& root);

} // namespace qs
