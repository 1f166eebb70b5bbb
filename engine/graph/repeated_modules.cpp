// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/repeated_modules.h"

#include "engine/graph/text/graph_printer.h"

#include <cctype>
#include <map>

namespace qs {

namespace {

using Signature = std::vector<std::uint32_t>;

/// Interns words as numbers, so that signatures are short and compare exactly.
class Words
{
public:
    std::uint32_t of(std::string_view word)
    {
        const auto it = m_numbers.find(word);
        return it != m_numbers.end()
            ? it->second
            : m_numbers.emplace(std::string(word), std::uint32_t(m_numbers.size())).first->second;
    }

private:
    std::map<std::string, std::uint32_t, std::less<>> m_numbers;
};

/// Tags in a signature, so that kinds of tokens cannot be confused.
enum Token : std::uint32_t
{
    Operator,
    Inside, ///< a value computed in the module: index of its operator
    Own, ///< a parameter of the module: its relative path
    Outside, ///< any other value: its position among the module's inputs
    Literal,
    ListBegin,
    ListEnd
};

/// Writes the operators of one module, or of one body, as a signature.
class SignatureWriter
{
public:
    SignatureWriter(const Graph& graph, std::string_view module, Words& words)
        : m_graph(graph)
        , m_module(module)
        , m_words(words)
    {
    }

    void add(const Node& node)
    {
        m_position.emplace(node.id, std::uint32_t(m_position.size()));
        m_out.insert(m_out.end(),
                     {Operator, m_words.of(node.target), m_words.of(relative(node.scope.path)),
                      m_words.of(node.scope.moduleClass), std::uint32_t(node.scope.callIndex),
                      std::uint32_t(node.outputs.size()), std::uint32_t(node.args.size()),
                      std::uint32_t(node.subgraphs.size())});
        for (const auto& arg : node.args) {
            m_out.push_back(m_words.of(arg.name));
            add(arg.value);
        }
        for (const auto& body : node.subgraphs) {
            SignatureWriter inner(*body, m_module, m_words);
            for (const auto& step : body->nodes())
                inner.add(*step);
            const Signature written = inner.take();
            m_out.insert(m_out.end(), written.begin(), written.end());
        }
    }

    Signature take() { return std::move(m_out); }

private:
    /// ".conv1" in module "layer1.0" for "layer1.0.conv1"; other paths unchanged.
    std::string_view relative(std::string_view path) const
    {
        return ModuleTree::isWithin(path, m_module) ? path.substr(m_module.size()) : path;
    }

    void add(const Argument& argument)
    {
        if (const auto* ref = argument.asRef()) {
            add(*ref);
        } else if (const auto* list = argument.asList()) {
            m_out.push_back(ListBegin);
            for (const auto& item : *list)
                add(item);
            m_out.push_back(ListEnd);
        } else {
            m_out.insert(m_out.end(), {Literal, m_words.of(printArgument(m_graph, argument))});
        }
    }

    void add(ValueRef ref)
    {
        const auto made = m_position.find(ref.node);
        const Node* producer = m_graph.tryGet(ref.node);
        if (made != m_position.end())
            m_out.insert(m_out.end(), {Inside, made->second, ref.index});
        else if (producer && producer->kind == NodeKind::Parameter && !m_module.empty()
                 && ModuleTree::isWithin(producer->target, m_module))
            m_out.insert(m_out.end(), {Own, m_words.of(relative(producer->target))});
        else
            m_out.insert(
                m_out.end(),
                {Outside, m_outside.emplace(ref, std::uint32_t(m_outside.size())).first->second});
    }

    const Graph& m_graph;
    std::string_view m_module;
    Words& m_words;
    Signature m_out;
    std::unordered_map<NodeId, std::uint32_t> m_position;
    std::unordered_map<ValueRef, std::uint32_t> m_outside;
};

struct Module
{
    std::string path;
    std::vector<const Node*> operators;
};

/// Returns every module except the root with its operators, ordered by its first operator.
std::vector<Module> modulesOf(const Graph& graph)
{
    std::vector<Module> out;
    std::unordered_map<std::string, std::size_t> known;
    for (const auto& node : graph.nodes()) {
        if (!node->isOperator())
            continue;
        for (std::string path = node->scope.path; !path.empty();
             path = ModuleTree::parentPath(path)) {
            const auto [it, fresh] = known.emplace(path, out.size());
            if (fresh)
                out.push_back({path, {}});
            out[it->second].operators.push_back(node.get());
        }
    }
    return out;
}

std::string withoutNumbers(const std::string& path)
{
    std::string out;
    for (const char c : path)
        if (!std::isdigit(static_cast<unsigned char>(c)))
            out += c;
        else if (out.empty() || out.back() != '#')
            out += '#';
    return out;
}

} // namespace

std::shared_ptr<const RepeatedModules> RepeatedModules::find(const Graph& graph)
{
    Words words;
    std::map<Signature, std::size_t> groupOf;
    std::vector<std::vector<std::string>> groups;
    for (const Module& module : modulesOf(graph)) {
        const auto* entry = graph.modules().tryGet(module.path);
        SignatureWriter writer(graph, module.path, words);
        for (const Node* node : module.operators)
            writer.add(*node);
        Signature signature = writer.take();
        signature.push_back(words.of(entry ? entry->moduleClass : std::string()));
        const auto [it, fresh] = groupOf.emplace(std::move(signature), groups.size());
        if (fresh)
            groups.emplace_back();
        groups[it->second].push_back(module.path);
    }
    auto out = std::make_shared<RepeatedModules>();
    for (auto& group : groups) {
        if (group.size() < 2)
            continue;
        group.shrink_to_fit(); // final size
        for (const auto& path : group)
            out->m_groupOf.emplace(path, std::uint32_t(out->m_groups.size()));
        out->m_groups.push_back(std::move(group));
    }
    return out;
}

std::span<const std::string> RepeatedModules::of(const std::string& path) const
{
    const auto it = m_groupOf.find(path);
    return it == m_groupOf.end() ? std::span<const std::string>() : m_groups[it->second];
}

std::vector<std::string> RepeatedModules::inPlace(const std::string& path) const
{
    std::vector<std::string> out;
    const std::string place = withoutNumbers(path);
    for (const auto& other : of(path))
        if (withoutNumbers(other) == place)
            out.push_back(other);
    return out.size() > 1 ? out : std::vector<std::string>();
}

} // namespace qs
