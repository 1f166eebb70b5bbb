// SPDX-License-Identifier: Apache-2.0
#include "engine/edit/addresses.h"

#include "engine/base/text.h"
#include "engine/configure/nearest_name.h"

namespace qs {

namespace {

std::vector<std::string> namesOf(const std::map<std::string, NodeId>& known)
{
    std::vector<std::string> names;
    for (const auto& [name, node] : known)
        names.push_back(name);
    return names;
}

} // namespace

Addresses::Addresses(const Graph& file)
{
    using Kind = ValueAddress::Kind;
    for (const NodePtr& node : file.nodes()) {
        ValueAddress address;
        if (node->kind == NodeKind::Input) {
            address.kind = Kind::Input;
            address.name = node->target.empty() ? node->name : node->target;
            m_inputs.try_emplace(address.name, node->id);
        } else if (node->isStored()) {
            address.kind = Kind::Stored;
            address.name = node->target.empty() ? node->name : node->target;
            m_stored.try_emplace(address.name, node->id);
        } else if (node->isOperator()) {
            auto& alike = m_operators[{node->scope.path, node->target}];
            address.kind = Kind::Operator;
            address.module = node->scope.path;
            address.op = node->target;
            address.index = int(alike.size());
            alike.push_back(node->id);
        }
        m_words[node->id] = std::move(address);
    }
}

Result<void> Addresses::add(const std::string& name, NodeId node)
{
    if (!m_added.emplace(name, node).second)
        return fail(makeError(ErrorCode::BadInput,
                              "an earlier edit gave the name " + inQuotes(name) + " already")
                        .withHint("choose another name"));
    ValueAddress address;
    address.kind = ValueAddress::Kind::Added;
    address.name = name;
    m_words[node] = std::move(address);
    return {};
}

ValueAddress Addresses::of(ValueRef value) const
{
    const auto it = m_words.find(value.node);
    ValueAddress address = it == m_words.end() ? ValueAddress() : it->second;
    address.output = int(value.index);
    return address;
}

Result<NodeId> Addresses::find(const ValueAddress& address) const
{
    using Kind = ValueAddress::Kind;
    if (address.kind == Kind::Operator)
        return findOperator(address);
    const bool isInput = address.kind == Kind::Input, isStored = address.kind == Kind::Stored;
    const auto& known = isInput ? m_inputs : isStored ? m_stored : m_added;
    const char* const what = isInput ? "input" : isStored ? "stored tensor" : "added operator";
    if (const auto it = known.find(address.name); it != known.end())
        return it->second;
    const auto names = namesOf(known);
    return fail(makeError(ErrorCode::NotFound,
                          "there is no " + std::string(what) + " " + inQuotes(address.name))
                    .withHint(names.empty() ? "" : suggestName(address.name, names, 6)));
}

Result<NodeId> Addresses::findOperator(const ValueAddress& address) const
{
    const std::string where
        = address.module.empty() ? "the model's root" : inQuotes(address.module);
    const auto it = m_operators.find({address.module, address.op});
    if (it != m_operators.end()) {
        if (std::size_t(address.index) < it->second.size())
            return it->second[std::size_t(address.index)];
        return fail(ErrorCode::NotFound,
                    where + " has " + counted(std::int64_t(it->second.size()), address.op)
                        + ", none of index " + std::to_string(address.index));
    }
    std::vector<std::string> operators, modules;
    for (const auto& [key, nodes] : m_operators) {
        if (key.first == address.module)
            operators.push_back(key.second);
        if (key.second == address.op)
            modules.push_back(key.first);
    }
    Error error = makeError(ErrorCode::NotFound, where + " has no operator " + address.op);
    if (!operators.empty())
        return fail(std::move(error).withHint("it has " + suggestName(address.op, operators, 6)));
    return fail(std::move(error).withHint(
        modules.empty() ? "" : "modules with it: " + suggestName(address.module, modules, 6)));
}

} // namespace qs
