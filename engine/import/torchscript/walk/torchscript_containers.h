// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/import/torchscript/torchscript_weights.h"
#include "engine/import/torchscript/walk/torchscript_emitter.h"

namespace qs {

/// Makes, reads and changes tuples, lists, dicts and objects whose parts are known one by one, and
/// computes what is known.
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
    /// What is asked of a tuple, or of the sizes of a tensor.
    Result<ScriptAnswer> readContainer(const JitNode& node, const ScriptItems& args);
    /// Computes known values by LibTorch's own operator: numbers, texts, and lists and dicts of any
    /// content.
    Result<ScriptAnswer> runKnown(const JitNode& node, const ScriptItems& args);

private:
    Result<ScriptAnswer> readSizes(const JitNode& node, const ScriptItems& args);
    /// The tensor's sizes from one dimension to another, both counted from one end.
    Result<ScriptItems> sizesFrom(const ScopedRef& tensor, std::int64_t first, std::int64_t end,
                                  const JitNode& node);
    /// The item as LibTorch's operators take it where they want a value of the type: a constant, or
    /// a list, dict or tuple of such; a handle where they take anything. Nothing where that needs
    /// more than is known.
    Result<std::optional<at::IValue>> knownAs(const ScriptItem& item, const c10::TypePtr& declared,
                                              const JitNode& node);

    ScriptEmitter& m_emitter;
    ScriptWeights& m_weights;
};

} // namespace qs
