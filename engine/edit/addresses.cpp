// SPDX-License-Identifier: Apache-2.0
#include "engine/edit/addresses.h"

#include "engine/base/json/nearest_name.h"
#include "engine/base/text.h"

#include <algorithm>
#include <span>
#include <string_view>

namespace qs {

namespace {

using Kind = ValueAddress::Kind;

Kind kindOf(const Node& node)
{
    return node.kind == NodeKind::Input ? Kind::Input
        : node.isStored()               ? Kind::Stored
        : node.isOperator()             ? Kind::Operator
                                        : Kind::None;
}

/// Returns the name of an input or a stored tensor.
const std::string& nameOf(const Node& node)
{
    return node.target.empty() ? node.name : node.target;
}

/// Returns the key under which operators are numbered: module and target.
std::pair<std::string_view, std::string_view> callOf(const Node& node)
{
    return {node.scope.path, node.target};
}

} // namespace

/// The nodes of the file, sorted by their addresses for lookup.
struct Addresses::File
{
    explicit File(GraphPtr read);
    const Node& node(NodeId id) const { return *graph->tryGet(id); }
    /// The operators of that module and target, in graph order.
    std::span<const NodeId> alike(const std::string& module, const std::string& target) const;

    GraphPtr graph;
    std::vector<NodeId> inputs, stored; ///< by name, then in graph order
    std::vector<NodeId> operators; ///< by module and target, then in graph order
    std::vector<std::uint32_t> places; ///< indexed by an operator's id: its number among operators
                                       ///< of the same module and target
};

Addresses::File::File(GraphPtr read)
    : graph(std::move(read))
{
    std::uint32_t last = 0;
    for (const NodePtr& node : graph->nodes()) {
        const Kind kind = kindOf(*node);
        if (kind == Kind::None)
            continue;
        last = std::max(last, node->id.value());
        (kind == Kind::Input        ? inputs
             : kind == Kind::Stored ? stored
                                    : operators)
            .push_back(node->id);
    }
    for (auto* named : {&inputs, &stored})
        std::stable_sort(named->begin(), named->end(),
                         [this](NodeId a, NodeId b) { return nameOf(node(a)) < nameOf(node(b)); });
    std::stable_sort(operators.begin(), operators.end(),
                     [this](NodeId a, NodeId b) { return callOf(node(a)) < callOf(node(b)); });
    for (auto* ids : {&inputs, &stored, &operators})
        ids->shrink_to_fit(); // final size
    places.assign(last + 1, 0);
    for (std::size_t i = 1; i < operators.size(); ++i)
        if (callOf(node(operators[i])) == callOf(node(operators[i - 1])))
            places[operators[i].value()] = places[operators[i - 1].value()] + 1;
}

std::span<const NodeId> Addresses::File::alike(const std::string& module,
                                               const std::string& target) const
{
    const std::pair<std::string_view, std::string_view> call {module, target};
    const auto first
        = std::lower_bound(operators.begin(), operators.end(), call,
                           [this](NodeId id, const auto& key) { return callOf(node(id)) < key; });
    const auto last
        = std::upper_bound(first, operators.end(), call,
                           [this](const auto& key, NodeId id) { return key < callOf(node(id)); });
    return {first, last};
}

Addresses::Addresses(GraphPtr file)
    : m_file(std::make_shared<const File>(std::move(file)))
{
}

Result<void> Addresses::add(const std::string& name, NodeId node)
{
    if (!m_added.emplace(name, node).second)
        return fail(makeError(ErrorCode::BadInput,
                              "an earlier edit gave the name " + inQuotes(name) + " already")
                        .withHint("choose another name"));
    m_addedNames[node] = name;
    return {};
}

ValueAddress Addresses::of(ValueRef value) const
{
    ValueAddress address;
    address.output = int(value.index);
    if (const auto added = m_addedNames.find(value.node); added != m_addedNames.end()) {
        address.kind = Kind::Added;
        address.name = added->second;
        return address;
    }
    const Node* node = m_file->graph->tryGet(value.node);
    if (!node)
        return address;
    address.kind = kindOf(*node);
    if (address.kind == Kind::Operator) {
        address.module = node->scope.path;
        address.op = node->target;
        address.index = int(m_file->places[node->id.value()]);
    } else if (address.kind != Kind::None) {
        address.name = nameOf(*node);
    }
    return address;
}

Result<NodeId> Addresses::find(const ValueAddress& address) const
{
    if (address.kind == Kind::Operator)
        return findOperator(address);
    const bool isInput = address.kind == Kind::Input, isStored = address.kind == Kind::Stored;
    const char* const what = isInput ? "input" : isStored ? "stored tensor" : "added operator";
    std::vector<std::string> names;
    if (isInput || isStored) {
        const auto& known = isInput ? m_file->inputs : m_file->stored;
        const auto at = std::lower_bound(
            known.begin(), known.end(), address.name,
            [this](NodeId id, const std::string& key) { return nameOf(m_file->node(id)) < key; });
        if (at != known.end() && nameOf(m_file->node(*at)) == address.name)
            return *at;
        for (const NodeId id : known)
            names.push_back(nameOf(m_file->node(id)));
    } else {
        if (const auto at = m_added.find(address.name); at != m_added.end())
            return at->second;
        for (const auto& [name, node] : m_added)
            names.push_back(name);
    }
    return fail(makeError(ErrorCode::NotFound,
                          "there is no " + std::string(what) + " " + inQuotes(address.name))
                    .withHint(names.empty() ? "" : suggestName(address.name, names, 6)));
}

Result<NodeId> Addresses::findOperator(const ValueAddress& address) const
{
    const std::string where
        = address.module.empty() ? "the model's root" : inQuotes(address.module);
    const auto alike = m_file->alike(address.module, address.op);
    if (std::size_t(address.index) < alike.size())
        return alike[std::size_t(address.index)];
    if (!alike.empty())
        return fail(ErrorCode::NotFound,
                    where + " has " + counted(std::int64_t(alike.size()), address.op)
                        + ", none of index " + std::to_string(address.index));
    std::vector<std::string> operators, modules;
    for (const NodeId id : m_file->operators) {
        if (m_file->places[id.value()] > 0) // only the first of each module and target
            continue;
        const Node& node = m_file->node(id);
        if (node.scope.path == address.module)
            operators.push_back(node.target);
        if (node.target == address.op)
            modules.push_back(node.scope.path);
    }
    Error error = makeError(ErrorCode::NotFound, where + " has no operator " + address.op);
    if (!operators.empty())
        return fail(std::move(error).withHint("it has " + suggestName(address.op, operators, 6)));
    return fail(std::move(error).withHint(
        modules.empty() ? "" : "modules with it: " + suggestName(address.module, modules, 6)));
}

} // namespace qs
