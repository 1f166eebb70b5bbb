// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/each_of.h"
#include "engine/base/job_context.h"
#include "engine/import/torchscript/walk/torchscript_containers.h"
#include "engine/import/torchscript/walk/torchscript_respell.h"
#include "engine/import/torchscript/walk/torchscript_writes.h"

namespace qs {

/// How often each module was called so far, by its path.
using ScriptCalls = std::unordered_map<std::string, int>;

/// Reads a TorchScript program as a graph by walking it with the known values: constants are
/// computed, branches with a known condition taken, loops with a known count unrolled, calls
/// followed, tuples, lists, dicts, objects and attributes resolved. The remaining operators become
/// nodes of a scope. Branches and loops that depend on data become nodes with bodies. No operator
/// is run on elements. Functions may throw what LibTorch throws: call inside `guardTorch`.
class ScriptEvaluator
{
public:
    using JitNode = torch::jit::Node;
    using JitValue = torch::jit::Value;
    using Items = ScriptItems;
    using Env = ScriptEnv;

    ScriptEvaluator(ScriptScope& root, ScriptWeights& weights, const ScriptDebug& debug,
                    const JobContext& job);

    /// Follows a call. `module` is null for a plain function.
    Result<ScriptItem> call(torch::jit::Function& function, Items args,
                            const ScriptContainer* module);
    /// Once the call has been followed: tensors that the model set as attributes become state
    /// updates. Returns the paths of the other attributes that it leaves changed; every call starts
    /// from their saved values.
    Result<std::vector<std::string>> keepAttributes();

    /// Walks the block of a branch, a loop or a function.
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
    /// prim::GetAttr or prim::SetAttr.
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
