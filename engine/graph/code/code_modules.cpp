// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/code/code_modules.h"

#include "engine/base/text.h"
#include "engine/graph/code/code_names.h"
#include "engine/graph/code/module_settings.h"
#include "engine/graph/operators/engine_ops.h"
#include "engine/graph/operators/fused_activations.h"
#include "engine/graph/operators/operators.h"

#include <algorithm>

namespace qs {

namespace {

/// Returns the class of an operator: its module's, or for a function the class that torch.ao gives
/// it when it fuses it.
std::string classOf(const Node& node)
{
    const std::string_view fused = fusedActivationClass(targetBase(node.target));
    return fused.empty() ? lastPart(node.scope.moduleClass) : std::string(fused);
}

} // namespace

std::string kernelClass(const CodeStatement& statement, const CodeContext& context)
{
    if (statement.fusion >= 0) {
        const auto& fused = context.fusions[std::size_t(statement.fusion)].moduleClass;
        if (!fused.empty())
            return lastPart(fused);
    }
    return lastPart(statement.root->scope.moduleClass);
}

namespace {

/// True if `wanted` is true for any node of the graph or its bodies.
bool holdsAnywhere(const Graph& graph, bool (*wanted)(const Node&))
{
    const auto nodes = graph.nodes();
    return std::any_of(nodes.begin(), nodes.end(), [&](const NodePtr& node) {
        return wanted(*node)
            || std::any_of(node->subgraphs.begin(), node->subgraphs.end(),
                           [&](const GraphPtr& body) { return holdsAnywhere(*body, wanted); });
    });
}

} // namespace

/// A module of the list: a call with its text, or a container of others.
struct CodeModuleTree::Branch
{
    std::string name;
    std::string text; ///< "Conv2d(3, 8, ...)", without its children's lines
    std::vector<NodeId> nodes;
    std::vector<std::unique_ptr<Branch>> children;

    Branch& child(const std::string& wanted)
    {
        for (const auto& branch : children)
            if (branch->name == wanted)
                return *branch;
        children.push_back(std::make_unique<Branch>());
        children.back()->name = wanted;
        return *children.back();
    }

    void print(std::size_t depth, std::vector<CodeLine>& out) const
    {
        const std::string indent(2 * depth, ' ');
        const std::string label = depth == 0 ? "" : indent + "(" + name + "): ";
        if (children.empty()) {
            out.push_back({label + (text.empty() ? "Module()" : text), nodes});
            return;
        }
        // Python prints the settings of a module before its children.
        const std::size_t reference = text.find(")(");
        const std::size_t opens = reference == std::string::npos ? text.find('(') : reference + 1;
        out.push_back({label + (text.empty() ? "Module" : text.substr(0, opens)) + "(", nodes});
        if (opens != std::string::npos && opens + 2 < text.size())
            out.push_back({indent + "  " + text.substr(opens + 1, text.size() - opens - 2), nodes});
        for (const auto& branch : children)
            branch->print(depth + 1, out);
        out.push_back({indent + ")", {}});
    }
};

CodeModuleTree::CodeModuleTree(const Graph& graph, const CodeContext& context, const Graph* modules)
    : m_graph(graph)
    , m_model(modules             ? *modules
                  : context.model ? *context.model
                                  : graph)
    , m_context(context)
    , m_root(std::make_unique<Branch>())
{
    m_root->text = "GraphModule()";
}

CodeModuleTree::~CodeModuleTree() = default;

CodeModuleTree::Branch& CodeModuleTree::branch(const std::string& path)
{
    Branch* at = m_root.get();
    std::size_t begin = 0;
    while (begin <= path.size()) {
        const auto dot = std::min(path.find('.', begin), path.size());
        at = &at->child(path.substr(begin, dot - begin));
        begin = dot + 1;
    }
    return *at;
}

std::string CodeModuleTree::wholeClass(const std::string& name, const Node& module) const
{
    const auto holds = [&module](bool (*wanted)(const Node&)) {
        return std::any_of(module.subgraphs.begin(), module.subgraphs.end(),
                           [&](const GraphPtr& body) { return holdsAnywhere(*body, wanted); });
    };
    if (holds(isObserver))
        return (module.scope.moduleClass.starts_with("torch.nn.") ? "Quantizable" : "Observed")
            + name;
    if (!holds([](const Node& node) { return isQuantizing(node) || isKernelTarget(node.target); }))
        return name;
    return "Quantized" + name + (m_context.reference ? "" : "(Reference)");
}

std::string CodeModuleTree::describe(const Node& floatNode, const CodeStatement& statement,
                                     bool folded) const
{
    const std::string name = classOf(floatNode);
    const bool first = floatNode.scope.path == statement.root->scope.path;
    const std::string shown = statement.root->isOp(kModuleTarget)
        ? wholeClass(name, *statement.root)
        : first && statement.quantizedWeight ? "Quantized" + name + "(Reference)"
                                             : name;
    return shown + "(" + moduleSettings(m_model, floatNode, {}, first && folded) + ")";
}

/// The float operators of the module, in forward order.
std::vector<const Node*> CodeModuleTree::membersOf(const CodeStatement& statement) const
{
    std::vector<const Node*> members;
    if (statement.fusion >= 0) {
        for (NodeId id : m_context.fusions[std::size_t(statement.fusion)].members)
            if (const Node* member = m_model.tryGet(id))
                members.push_back(member);
        return members;
    }
    const Node* member = m_model.tryGet(floatNodeOf(*statement.root));
    return {member ? member : statement.root};
}

namespace {

/// Returns the kernel in a module's forward; null if it has none.
const Node* kernelOf(const CodeStatement& statement)
{
    for (auto node = statement.nodes.rbegin(); node != statement.nodes.rend(); ++node)
        if (isKernelTarget((*node)->target) && !isPrepackTarget((*node)->target))
            return *node;
    return nullptr;
}

} // namespace

bool CodeModuleTree::isDynamicKernel(const CodeStatement& statement) const
{
    return isRecurrentClass(kernelClass(statement, m_context))
        || kernelOf(statement)->target.find("_dynamic") != std::string::npos;
}

/// Returns the weight's qscheme of a linear layer; for a dynamic layer also its dtype.
std::string CodeModuleTree::qschemeText(const CodeStatement& statement, bool isDynamic)
{
    for (const Node* node : statement.nodes) {
        const Argument* dtype = node->tryArg("dtype");
        if (!isQuantize(*node) || !dtype || !dtype->asDType())
            continue;
        const bool perChannel = node->target.find("per_channel") != std::string::npos;
        return (isDynamic ? ", dtype=" + settingText(*dtype) : "") + ", qscheme=torch.per_"
            + (perChannel ? "channel" : "tensor") + "_affine";
    }
    return {};
}

/// Adds a module whose forward is one of LibTorch's quantized kernels.
void CodeModuleTree::addKernel(Branch& branch, const CodeStatement& statement, const Node& first,
                               bool folded) const
{
    std::string suffix;
    for (const auto& argument : kernelOf(statement)->args) {
        const char* label = isScale(argument.name) ? ", scale="
            : isZeroPoint(argument.name)           ? ", zero_point="
                                                   : nullptr;
        if (m_context.values && label && !argument.value.asRef())
            suffix += label + settingText(argument.value);
    }
    if (m_context.values && lastPart(first.scope.moduleClass) == "Linear")
        suffix += qschemeText(statement, isDynamicKernel(statement));
    branch.text = (isDynamicKernel(statement) ? "DynamicQuantized" : "Quantized")
        + kernelClass(statement, m_context) + "(" + moduleSettings(m_model, first, suffix, folded)
        + ")";
}

/// Adds a module of `torch.ao.nn.qat`, which holds the batch norm and the fake quantizer.
void CodeModuleTree::addTrained(Branch& branch, const CodeTrainedModule& trained,
                                const std::vector<const Node*>& members) const
{
    branch.text = lastPart(trained.moduleClass) + "("
        + moduleSettings(m_model, *members.front(), {}, false) + ")";
    for (const Node* member : members)
        if (lastPart(member->scope.moduleClass).starts_with("BatchNorm")) {
            Branch& norm = branch.child("bn");
            norm.text = classOf(*member) + "(" + moduleSettings(m_model, *member, {}, false) + ")";
            norm.nodes = {member->id};
        }
    branch.child("weight_fake_quant").text = observerText(trained.weight);
}

void CodeModuleTree::add(const CodeStatement& statement)
{
    Branch& branch = this->branch(statement.path());
    if (!branch.text.empty())
        return;
    std::vector<const Node*> members = membersOf(statement);
    for (const Node* member : members)
        branch.nodes.push_back(member->id);
    if (const auto at = m_context.trained.find(members.front()->id);
        at != m_context.trained.end()) {
        addTrained(branch, at->second, members);
        return;
    }
    // A batch norm folded into the weights is not printed.
    const std::string root = lastPart(members.front()->scope.moduleClass);
    const auto isFolded = [&](const Node* member) {
        return (isConvolutionClass(root) || root == "Linear")
            && lastPart(member->scope.moduleClass).starts_with("BatchNorm");
    };
    const auto end = std::remove_if(members.begin(), members.end(), isFolded);
    const bool folded = end != members.end();
    members.erase(end, members.end());
    if (kernelOf(statement)) {
        addKernel(branch, statement, *members.front(), folded);
        return;
    }
    if (members.size() == 1) {
        branch.text = describe(*members.front(), statement, folded);
        return;
    }
    branch.text = kernelClass(statement, m_context) + "()";
    for (std::size_t i = 0; i < members.size(); ++i) {
        Branch& part = branch.child(std::to_string(i));
        part.text = describe(*members[i], statement, folded);
        part.nodes = {members[i]->id};
    }
}

std::string CodeModuleTree::observerText(ObserverId observer) const
{
    return m_context.observerText ? m_context.observerText(observer) : "Observer()";
}

void CodeModuleTree::addObserver(const std::string& name, ObserverId observer, NodeId observed)
{
    Branch& branch = m_root->child(name);
    branch.text = observerText(observer);
    branch.nodes = {observed};
}

void CodeModuleTree::addStub(const std::string& name, NodeId value)
{
    Branch& branch = m_root->child(name);
    branch.text = "DeQuantStub()";
    branch.nodes = {value};
}

std::vector<CodeLine> CodeModuleTree::lines() const
{
    std::vector<CodeLine> out;
    m_root->print(0, out);
    return out;
}

} // namespace qs
