// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/code/code_statements.h"

#include <memory>

namespace qs {

/// The list of modules before `forward`: `(conv): Conv2d(3, 8, kernel_size=(3, 3), stride=(1, 1))`,
/// in order of their calls, nested as their paths are. Each line knows its float nodes.
class CodeModuleTree
{
public:
    /// `modules`: the graph whose nodes give the settings; null: the float model.
    CodeModuleTree(const Graph& graph, const CodeContext& context, const Graph* modules = nullptr);
    ~CodeModuleTree();
    /// The module that a Module statement calls; a second call adds nothing.
    void add(const CodeStatement& statement);
    /// An observer under the name of its call.
    void addObserver(const std::string& name, ObserverId observer, NodeId observed);
    /// A DeQuantStub likewise.
    void addStub(const std::string& name, NodeId value);
    /// From `GraphModule(` to `)`.
    std::vector<CodeLine> lines() const;

private:
    struct Branch;
    Branch& branch(const std::string& path);
    std::string describe(const Node& floatNode, const CodeStatement& statement, bool folded) const;
    std::vector<const Node*> membersOf(const CodeStatement& statement) const;
    void addKernel(Branch& branch, const CodeStatement& statement, const Node& first,
                   bool folded) const;
    /// True for a kernel that chooses the parameters of its input itself.
    bool isDynamicKernel(const CodeStatement& statement) const;
    static std::string qschemeText(const CodeStatement& statement, bool isDynamic);
    /// "QuantizableLSTM", "QuantizedLSTM(Reference)", "QuantizedLSTM": a custom module in this
    /// form.
    std::string wholeClass(const std::string& name, const Node& module) const;

    const Graph& m_graph;
    const Graph& m_model;
    const CodeContext& m_context;
    std::unique_ptr<Branch> m_root;
};

/// The class of a fused module, or of the module itself: "ConvReLU2d".
std::string kernelClass(const CodeStatement& statement, const CodeContext& context);

} // namespace qs
