// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/import/torchscript/torchscript_weights.h"
#include "engine/import/torchscript/walk/torchscript_emitter.h"

namespace qs {

/// Creates, reads and modifies tuples, lists, dicts and objects with individually known parts, and
/// evaluates operators on known values.
class ScriptContainers
{
public:
    using JitNode = torch::jit::Node;

    ScriptContainers(ScriptEmitter& emitter, ScriptWeights& weights)
        : m_emitter(emitter)
        , m_weights(weights)
    {
    }

    Result<void> construct(const JitNode& node, ScriptItems args, ScriptEnv& env);
    Result<void> unpack(const JitNode& node, const ScriptItem& item, ScriptEnv& env);
    /// Answers operators that read a tuple or the sizes of a tensor.
    Result<ScriptAnswer> readContainer(const JitNode& node, const ScriptItems& args);
    /// Evaluates an operator on known values with LibTorch's implementation: numbers, strings, and
    /// lists and dicts of any content.
    Result<ScriptAnswer> runKnown(const JitNode& node, const ScriptItems& args);

private:
    Result<ScriptAnswer> readSizes(const JitNode& node, const ScriptItems& args);
    /// The tensor's sizes over a range of dimensions, with both bounds counted from the same end.
    Result<ScriptItems> sizesFrom(const ScopedRef& tensor, std::int64_t first, std::int64_t end,
                                  const JitNode& node);
    /// Converts the item to a value for LibTorch's operators: a constant, or a list, dict or tuple
    /// of constants; a handle if the operator accepts any type. nullopt if required parts are
    /// unknown.
    Result<std::optional<at::IValue>> knownAs(const ScriptItem& item, const c10::TypePtr& declared,
                                              const JitNode& node);

    ScriptEmitter& m_emitter;
    ScriptWeights& m_weights;
};

} // namespace qs
