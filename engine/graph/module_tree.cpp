// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/module_tree.h"

#include <algorithm>

namespace qs {

std::string ModuleTree::parentPath(std::string_view path)
{
    const auto dot = path.rfind('.');
    return dot == std::string_view::npos ? std::string() : std::string(path.substr(0, dot));
}

bool ModuleTree::isWithin(std::string_view path, std::string_view ancestor)
{
    if (ancestor.empty())
        return true;
    return path.starts_with(ancestor)
        && (path.size() == ancestor.size() || path[ancestor.size()] == '.');
}

void ModuleTree::add(const std::string& path, const std::string& moduleClass)
{
    auto [it, isNew] = m_modules.try_emplace(path);
    if (it->second.moduleClass.empty())
        it->second.moduleClass = moduleClass;
    if (!isNew)
        return;
    it->second.path = path;
    if (path.empty())
        return;
    const std::string parent = parentPath(path);
    add(parent, "");
    m_modules.find(parent)->second.children.push_back(path);
}

void ModuleTree::addParameter(const std::string& path)
{
    const std::string parent = parentPath(path);
    add(parent, "");
    auto& list = m_modules.find(parent)->second.parameters;
    if (std::find(list.begin(), list.end(), path) == list.end())
        list.push_back(path);
}

const ModuleEntry* ModuleTree::tryGet(std::string_view path) const
{
    const auto it = m_modules.find(path);
    return it == m_modules.end() ? nullptr : &it->second;
}

const ModuleEntry& ModuleTree::root() const
{
    static const ModuleEntry kEmpty;
    const auto* entry = tryGet("");
    return entry ? *entry : kEmpty;
}

std::vector<const ModuleEntry*> ModuleTree::inOrder() const
{
    std::vector<const ModuleEntry*> order;
    std::vector<const ModuleEntry*> stack {&root()};
    while (!stack.empty()) {
        const ModuleEntry* entry = stack.back();
        stack.pop_back();
        order.push_back(entry);
        for (auto it = entry->children.rbegin(); it != entry->children.rend(); ++it)
            stack.push_back(tryGet(*it));
    }
    return order;
}

} // namespace qs
