// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/each_of.h"
#include "engine/base/job_context.h"
#include "engine/import/torchscript/walk/torchscript_containers.h"
#include "engine/import/torchscript/walk/torchscript_respell.h"
#include "engine/import/torchscript/walk/torchscript_writes.h"

namespace qs {

/// Number of calls of each module so far, by path.
using ScriptCalls = std::unordered_map<std::string, int>;

/// Reads a TorchScript program as a graph by partial evaluation: computes constants, takes branches
/// with a known condition, unrolls loops with a known count, inlines calls, and resolves tuples,
/// lists, dicts, objects and attributes. The remaining operators become nodes of a scope. Branches
/// and loops that depend on data become nodes with bodies. Runs no operator on tensor elements.
/// Functions may throw LibTorch's exceptions: call inside `guardTorch`.
class ScriptEvaluator
{
public:
    using JitNode = torch::jit::Node;
    using JitValue = torch::jit::Value;
    using Items = ScriptItems;
    using Env = ScriptEnv;

    ScriptEvaluator(ScriptScope& root, ScriptWeights& weights, const ScriptDebug& debug,
                    const JobContext& job);

    /// Evaluates a call. `module` is null for a plain function.
    Result<ScriptItem> call(torch::jit::Function& function, Items args,
                            const ScriptContainer* module);
    /// Call after the model's call: turns tensors that the model assigned to attributes into state
    /// updates. Returns the paths of other changed attributes; every call starts from their saved
    /// values.
    Result<std::vector<std::string>> keepAttributes();

    /// Evaluates the block of a branch, a loop or a function.
    Result<void> runBlock(const torch::jit::Block& block, Env& env);
    static Result<ScriptItem> item(const JitValue* value, const Env& env);
    static Result<Items> inputs(const JitNode& node, const Env& env);

    ScriptEmitter& emitter() { return m_emitter; }
    ScriptBodyWrites& writes() { return m_writes; }
    ScriptCalls& calls() { return m_calls; }

private:
    Result<void> runNode(const JitNode& node, Env& env);
    Result<bool> runPrim(const JitNode& node, Env& env);
    Result<ScriptAnswer> answer(const JitNode& node, const Items& args);
    Result<void> readConstant(const JitNode& node, Env& env);
    Result<void> runCall(const JitNode& node, Env& env);
    Result<ScriptItem> calledBy(const JitNode& node, Items args);
    void enterModule(ScriptPlace& place, const ScriptContainer& module, const Items& args);
    /// Evaluates a prim::GetAttr or prim::SetAttr.
    Result<void> useAttribute(const JitNode& node, Env& env);

    ScriptWeights& m_weights;
    const JobContext& m_job;
    ScriptEmitter m_emitter;
    ScriptRespeller m_respeller {m_emitter};
    ScriptContainers m_containers {m_emitter, m_weights};
    ScriptBodyWrites m_writes {m_emitter};
    std::size_t m_steps = 0;
    ScriptCalls m_calls;
    std::vector<std::pair<ScriptContainerPtr, std::size_t>> m_setAttributes; ///< objects, slots
};

} // namespace qs
