// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/code/code_calls.h"
#include "engine/graph/code/code_names.h"
#include "engine/graph/code/code_statements.h"

#include <map>
#include <utility>

namespace qs {

/// Names statements as torch.fx names its nodes, and the parameters of quantize nodes as torch.ao
/// names their attributes. Borrows graph and context.
class CodeNamer
{
public:
    CodeNamer(const Graph& graph, const CodeContext& context);

    const std::vector<CodeStatement>& statements() const { return m_statements; }
    /// "_" for a value that no statement shows.
    const std::string& of(ValueRef value) const;
    /// The name of a stored value before an observer sees it.
    const std::string& stored(const Node& node) const;
    /// Null if the node has no parameters or literal parameters.
    const ParameterNames* parameters(const Node& node) const;

private:
    void carry(const CodeNamer& earlier);
    std::string candidate(const CodeStatement& statement) const;
    void nameObservers();
    void nameStatement(const CodeStatement& statement);
    bool isPackedWeight(NodeId id) const;
    NodeId sameNode(const Node& node) const;
    void nameParameters(const CodeStatement& statement);
    /// Takes the parameters' attribute names from a file opened without its float model.
    void takeAttributes(const Node& node);
    const CodeStatement* statementOf(NodeId id) const;
    std::string placeOf(const Node& quantize) const;
    std::string firstReader(const Node& quantize) const;

    const Graph& m_graph;
    const CodeContext& m_context;
    std::vector<CodeStatement> m_statements;
    std::unordered_map<NodeId, const CodeStatement*> m_statementOf;
    CodeNames m_names;
    AttributeNames m_attributes;
    std::unordered_map<ValueRef, std::string> m_valueNames;
    std::unordered_map<NodeId, std::string> m_earlier; ///< the node's name in an earlier form
    std::unordered_map<NodeId, std::string> m_weightObservers; ///< by the stored value's node
    std::unordered_map<NodeId, std::string> m_observedWeights; ///< names now used by observers
    std::map<std::pair<std::string, int>, std::string> m_calls; ///< by module path and call
    std::unordered_map<NodeId, ParameterNames> m_parameters; ///< by the node that takes them
    std::unordered_map<NodeId, ParameterNames> m_parametersOf; ///< by float node
};

} // namespace qs
