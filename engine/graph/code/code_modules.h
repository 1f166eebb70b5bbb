// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/code/code_statements.h"

#include <memory>

namespace qs {

/// The list of modules before `forward`: `(conv): Conv2d(3, 8, kernel_size=(3, 3), stride=(1, 1))`,
/// in call order, nested by path. Each line lists its float nodes.
class CodeModuleTree
{
public:
    /// `modules`: the graph whose nodes provide the modules' settings; null: the float model.
    CodeModuleTree(const Graph& graph, const CodeContext& context, const Graph* modules = nullptr);
    ~CodeModuleTree();
    /// Adds the module that a Module statement calls; a module is added once.
    void add(const CodeStatement& statement);
    /// Adds an observer under the name of its call.
    void addObserver(const std::string& name, ObserverId observer, NodeId observed);
    /// Adds a DeQuantStub under the name of its call.
    void addStub(const std::string& name, NodeId value);
    /// Returns the whole list, from `GraphModule(` to `)`.
    std::vector<CodeLine> lines() const;

private:
    struct Branch;
    Branch& branch(const std::string& path);
    std::string describe(const Node& floatNode, const CodeStatement& statement, bool folded) const;
    std::vector<const Node*> membersOf(const CodeStatement& statement) const;
    void addKernel(Branch& branch, const CodeStatement& statement, const Node& first,
                   bool folded) const;
    void addTrained(Branch& branch, const CodeTrainedModule& trained,
                    const std::vector<const Node*>& members) const;
    std::string observerText(ObserverId observer) const;
    /// True for a kernel that chooses the parameters of its input itself.
    bool isDynamicKernel(const CodeStatement& statement) const;
    static std::string qschemeText(const CodeStatement& statement, bool isDynamic);
    /// Class of a custom module in this form of the graph: "QuantizableLSTM",
    /// "QuantizedLSTM(Reference)", "QuantizedLSTM".
    std::string wholeClass(const std::string& name, const Node& module) const;

    const Graph& m_graph;
    const Graph& m_model;
    const CodeContext& m_context;
    std::unique_ptr<Branch> m_root;
};

/// Returns the class of the fused module, or of the module if nothing is fused: "ConvReLU2d".
std::string kernelClass(const CodeStatement& statement, const CodeContext& context);

} // namespace qs
