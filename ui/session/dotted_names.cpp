// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/dotted_names.h"

#include "engine/graph/module_tree.h"

#include <algorithm>
#include <cctype>

namespace qs {

bool isNumber(const std::string& text)
{
    return !text.empty()
        && std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c); });
}

namespace {

std::vector<std::string> components(const std::string& path)
{
    std::vector<std::string> out;
    std::size_t from = 0;
    while (from < path.size()) {
        const auto dot = std::min(path.find('.', from), path.size());
        out.push_back(path.substr(from, dot - from));
        from = dot + 1;
    }
    return out;
}

} // namespace

std::string commonPath(const std::string& a, const std::string& b)
{
    const auto left = components(a), right = components(b);
    std::string out;
    for (std::size_t i = 0; i < std::min(left.size(), right.size()) && left[i] == right[i]; ++i)
        out += (out.empty() ? "" : ".") + left[i];
    return out;
}

std::string moduleOfPath(const std::string& entryPath)
{
    return entryPath.ends_with("()") ? ModuleTree::parentPath(entryPath) : entryPath;
}

} // namespace qs
