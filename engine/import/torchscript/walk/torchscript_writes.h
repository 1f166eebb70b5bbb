// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/import/torchscript/walk/torchscript_emitter.h"

namespace qs {

/// In-place writes of the bodies of branches and loops, each of which sees two names of one tensor
/// as two tensors. The errors (Unsupported) name the program's node.
class ScriptBodyWrites
{
public:
    using JitNode = torch::jit::Node;

    explicit ScriptBodyWrites(ScriptEmitter& emitter)
        : m_emitter(emitter)
    {
    }

    /// What a body writes: positions of its inputs.
    struct Written
    {
        std::vector<std::size_t> inputs;
        std::vector<std::size_t> handedOut; ///< of these, what shares memory with a leaf
    };
    static std::vector<std::size_t> writtenInputs(const Graph& body);
    static Written writesOf(const Graph& body, const std::vector<Argument>& leaves);

    /// Errors: the body writes an operand that aliases another.
    Result<void> checkNames(const JitNode& node, const std::vector<ValueRef>& written,
                            const std::vector<ValueRef>& operands) const;
    /// Errors: a round changes the carried value `leaf` and carries on another tensor that the body
    /// was given in its place.
    Result<void> checkNextRound(const JitNode& node, const Graph& body, const Argument& handedOn,
                                ValueRef leaf) const;

    /// A branch or loop of the open scope changes an operand in place, where that is not followed:
    /// one that it carries, or one that it also hands out.
    void note(NodeId control, ValueRef operand, bool isCarried, const JitNode& node)
    {
        m_noted.push_back({&m_emitter.scope(), control, operand, isCarried, &node});
    }
    /// Once all of a scope's nodes are there. Errors: what was noted in it is read after it under
    /// the name it had before.
    Result<void> check(ScriptScope& scope) const;

private:
    struct Noted
    {
        ScriptScope* scope;
        NodeId control;
        ValueRef operand;
        bool isCarried;
        const JitNode* node;
    };

    ScriptEmitter& m_emitter;
    std::vector<Noted> m_noted;
};

} // namespace qs
