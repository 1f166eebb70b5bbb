// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/code/code_modules.h"

#include "engine/base/text.h"
#include "engine/graph/code/code_names.h"
#include "engine/graph/operators/engine_ops.h"
#include "engine/graph/operators/operators.h"
#include "engine/graph/text/text_literals.h"

#include <algorithm>

namespace qs {

namespace {

/// The value a node reads under a name, null where it reads none.
const Value* operand(const Graph& graph, const Node& node, std::string_view name)
{
    const Argument* argument = node.tryArg(name);
    const ValueRef* ref = argument ? argument->asRef() : nullptr;
    return ref ? &graph.value(*ref) : nullptr;
}

std::string dimText(const Graph& graph, const Node& node, std::string_view name, std::size_t axis)
{
    const Value* value = operand(graph, node, name);
    return value && axis < value->type.shape.size() ? value->type.shape[axis].text() : "?";
}

/// "(2, 2)" for [2, 2] and for [2] of a layer with two spatial dimensions.
std::string spatialText(const Argument* argument, std::size_t dims, std::int64_t otherwise)
{
    std::string out = "(";
    const auto* list = argument ? argument->asList() : nullptr;
    for (std::size_t i = 0; i < dims; ++i) {
        std::string item = std::to_string(otherwise);
        if (list && !list->empty())
            item = settingText((*list)[std::min(i, list->size() - 1)]);
        else if (argument && argument->asInt())
            item = settingText(*argument);
        out += (i ? ", " : "") + item;
    }
    return out + (dims == 1 ? ",)" : ")");
}

std::string convolutionText(const Graph& graph, const Node& node, const std::string& name,
                            const std::string& suffix, bool hasBias)
{
    const bool transposed = name.find("Transpose") != std::string::npos;
    const auto dims = std::size_t(name[name.size() - 2] - '0');
    const Argument* groups = node.tryArg("groups");
    const std::int64_t count = groups && groups->asInt() ? *groups->asInt() : 1;
    const auto channels = [&](std::size_t axis, bool perGroup) {
        const Value* weight = operand(graph, node, "weight");
        if (!weight || axis >= weight->type.shape.size())
            return std::string("?");
        return std::to_string(weight->type.shape[axis].size * (perGroup ? count : 1));
    };
    std::string out = channels(transposed ? 0 : 1, !transposed) + ", "
        + channels(transposed ? 1 : 0, transposed) + ", kernel_size=(";
    for (std::size_t i = 0; i < dims; ++i)
        out += (i ? ", " : "") + dimText(graph, node, "weight", i + 2);
    out += dims == 1 ? ",)" : ")";
    out += ", stride=" + spatialText(node.tryArg("stride"), dims, 1) + suffix;
    const auto unlessDefault = [&](const char* argument, std::int64_t usual) {
        const Argument* given = node.tryArg(argument);
        if (const auto* word = given ? given->asString() : nullptr) {
            out += std::string(", ") + argument + "=" + *word;
            return;
        }
        const std::string text = spatialText(given, dims, usual);
        if (text != spatialText(nullptr, dims, usual))
            out += std::string(", ") + argument + "=" + text;
    };
    unlessDefault("padding", 0);
    unlessDefault("dilation", 1);
    unlessDefault("output_padding", 0);
    if (count != 1)
        out += ", groups=" + std::to_string(count);
    return hasBias ? out : out + ", bias=False";
}

/// The class of an operator: its module's, or that of the module as which torch.ao fuses a
/// function.
std::string classOf(const Node& node)
{
    static constexpr std::pair<std::string_view, const char*> kFused[]
        = {{"relu", "ReLU"}, {"leaky_relu", "LeakyReLU"}, {"tanh", "Tanh"}};
    const std::string base = targetBase(node.target);
    for (const auto& [function, module] : kFused)
        if (base == function)
            return module;
    return lastPart(node.scope.moduleClass);
}

bool isConvolution(const std::string& name)
{
    return name.size() > 5 && name.starts_with("Conv") && name.back() == 'd';
}

/// What a module prints between its parentheses. `folded`: a batch norm in it gives it a bias.
std::string settings(const Graph& graph, const Node& node, const std::string& suffix, bool folded)
{
    const std::string name = lastPart(node.scope.moduleClass);
    if (isConvolution(name))
        return convolutionText(graph, node, name, suffix, folded || operand(graph, node, "bias"));
    if (name == "Linear") {
        // Core ATen hands the weight over as [in, out].
        const bool swapped = !node.tryArg("weight");
        const std::string weight = swapped ? "mat2" : "weight";
        return "in_features=" + dimText(graph, node, weight, swapped ? 0 : 1)
            + ", out_features=" + dimText(graph, node, weight, swapped ? 1 : 0)
            + (suffix.empty() ? std::string(", bias=")
                       + (folded || operand(graph, node, swapped ? "self" : "bias") ? "True"
                                                                                    : "False")
                              : suffix);
    }
    if (name.starts_with("BatchNorm")) {
        const auto setting = [&node](const char* key, double usual) {
            const Argument* given = node.tryArg(key);
            return std::string(", ") + key + "="
                + (given && given->asDouble() ? settingText(*given) : doubleText(usual));
        };
        return dimText(graph, node, "running_mean", 0) + setting("eps", 1e-5)
            + setting("momentum", 0.1)
            + ", affine=" + (operand(graph, node, "weight") ? "True" : "False")
            + ", track_running_stats=True" + suffix;
    }
    std::string out;
    if (name == "Embedding")
        out = dimText(graph, node, "weight", 0) + ", " + dimText(graph, node, "weight", 1);
    for (const auto& argument : node.args) {
        bool reads = argument.value.isNone() || argument.name == "training"
            || argument.name == "cudnn_enabled" || argument.name == "cudnn_enable";
        forEachRef(argument.value, [&](ValueRef) { reads = true; });
        if (!reads)
            out += (out.empty() ? "" : ", ") + argument.name + "=" + settingText(argument.value);
    }
    return out.empty() && !suffix.empty() ? suffix.substr(2) : out + suffix;
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

std::string settingText(const Argument& argument)
{
    if (const auto* list = argument.asList()) {
        std::string out = "(";
        for (std::size_t i = 0; i < list->size(); ++i)
            out += (i ? ", " : "") + settingText((*list)[i]);
        return out + (list->size() == 1 ? ",)" : ")");
    }
    if (const auto* value = argument.asBool())
        return *value ? "True" : "False";
    if (const auto* value = argument.asInt())
        return std::to_string(*value);
    if (const auto* value = argument.asDouble())
        return doubleText(*value);
    if (const auto* value = argument.asString())
        return quotedLiteral(*value);
    if (const auto* value = argument.asDType())
        return "torch." + std::string(dtypeName(*value));
    return argument.isNone() ? "None" : "...";
}

namespace {

/// A node of the graph or of one within that is as wanted.
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

/// A module of the list: a call with its text, or what only holds others.
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
        const std::string opening = text.empty() ? "Module" : text.substr(0, text.find('('));
        out.push_back({label + opening + "(", nodes});
        for (const auto& branch : children)
            branch->print(depth + 1, out);
        out.push_back({indent + ")", {}});
    }
};

CodeModuleTree::CodeModuleTree(const Graph& graph, const CodeContext& context)
    : m_graph(graph)
    , m_model(context.model ? *context.model : graph)
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
    return shown + "(" + settings(m_model, floatNode, {}, first && folded) + ")";
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

/// A module that one of LibTorch's quantized kernels runs.
void CodeModuleTree::addKernel(Branch& branch, const CodeStatement& statement, const Node& first,
                               bool folded) const
{
    std::string suffix;
    for (const auto& argument : statement.result().args) {
        const char* label = isScale(argument.name) ? ", scale="
            : isZeroPoint(argument.name)           ? ", zero_point="
                                                   : nullptr;
        if (m_context.values && label && !argument.value.asRef())
            suffix += label + settingText(argument.value);
    }
    branch.text = "Quantized" + kernelClass(statement, m_context) + "("
        + settings(m_model, first, suffix, folded) + ")";
}

void CodeModuleTree::add(const CodeStatement& statement)
{
    Branch& branch = this->branch(statement.path());
    if (!branch.text.empty())
        return;
    std::vector<const Node*> members = membersOf(statement);
    for (const Node* member : members)
        branch.nodes.push_back(member->id);
    // A batch norm folded into the weights is gone.
    const std::string root = lastPart(members.front()->scope.moduleClass);
    const auto isFolded = [&](const Node* member) {
        return (isConvolution(root) || root == "Linear")
            && lastPart(member->scope.moduleClass).starts_with("BatchNorm");
    };
    const auto end = std::remove_if(members.begin(), members.end(), isFolded);
    const bool folded = end != members.end();
    members.erase(end, members.end());
    if (isKernelTarget(statement.result().target)) {
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

void CodeModuleTree::addObserver(const std::string& name, ObserverId observer, NodeId observed)
{
    Branch& branch = m_root->child(name);
    branch.text = m_context.observerText ? m_context.observerText(observer) : "Observer()";
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
