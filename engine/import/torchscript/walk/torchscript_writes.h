// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/import/torchscript/walk/torchscript_emitter.h"

namespace qs {

/// Checks in-place writes in the bodies of branches and loops. A body cannot know that two of its
/// inputs alias. The errors (Unsupported) name the program's node.
class ScriptBodyWrites
{
public:
    using JitNode = torch::jit::Node;

    explicit ScriptBodyWrites(ScriptEmitter& emitter)
        : m_emitter(emitter)
    {
    }

    /// Inputs that a body writes, by position.
    struct Written
    {
        std::vector<std::size_t> inputs;
        std::vector<std::size_t> handedOut; ///< written inputs that alias a leaf
    };
    static std::vector<std::size_t> writtenInputs(const Graph& body);
    static Written writesOf(const Graph& body, const std::vector<Argument>& leaves);

    /// Fails if the body writes an operand that aliases another.
    Result<void> checkNames(const JitNode& node, const std::vector<ValueRef>& written,
                            const std::vector<ValueRef>& operands) const;
    /// Fails if the loop body writes the carried value `leaf` in place but passes another of its
    /// inputs to the next iteration instead.
    Result<void> checkNextRound(const JitNode& node, const Graph& body, const Argument& handedOn,
                                ValueRef leaf) const;

    /// Records an operand that a branch or loop of the open scope changes in place and also carries
    /// or returns; checked later by `check`.
    void note(NodeId control, ValueRef operand, bool isCarried, const JitNode& node)
    {
        m_noted.push_back({&m_emitter.scope(), control, operand, isCarried, &node});
    }
    /// Call after all nodes of a scope are added. Fails if a noted operand is read under its old
    /// name after the branch or loop.
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
