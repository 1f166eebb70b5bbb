// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/names/own_modules.h"

#include "engine/base/json/nearest_name.h"
#include "engine/base/text.h"
#include "engine/graph/operators/operators.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <utility>

namespace qs {

namespace {

/// TorchScript does not record the main module's name: "MyLinear" for "__main__.MyLinear".
std::string plainClass(const std::string& name)
{
    constexpr std::string_view kMain = "__main__.";
    return name.starts_with(kMain) ? name.substr(kMain.size()) : name;
}

bool isOwnClass(const std::string& name)
{
    const std::string last = lastPart(name);
    return !last.empty() && std::isupper(static_cast<unsigned char>(last[0]))
        && name.find('.') != std::string::npos && !name.starts_with("torch.");
}

/// Lines on classes that the model does not have although it has one with a similar name; without
/// classes that fusing creates.
std::vector<std::string> misspelled(const Graph& graph, const Backend& backend,
                                    const std::map<std::string, std::string>& own)
{
    const auto isMade = [&](const std::string& name) {
        return std::any_of(backend.patterns.begin(), backend.patterns.end(),
                           [&](const BackendPattern& one) { return one.fusedModule == name; });
    };
    std::vector<std::string> classes, lines;
    for (const ModuleEntry* module : graph.modules().inOrder())
        if (!module->moduleClass.starts_with("torch."))
            classes.push_back(plainClass(module->moduleClass));
    for (const auto& [plain, pattern] : own) {
        if (std::find(classes.begin(), classes.end(), plain) != classes.end() || isMade(pattern))
            continue;
        if (const std::string near = nearestName(plain, classes); !near.empty())
            lines.push_back("backend pattern '" + pattern
                            + "': the model has no module of that class; did you mean '" + near
                            + "'?");
    }
    return lines;
}

} // namespace

std::vector<std::string> nameOwnModules(const Graph& graph, const Backend& backend,
                                        const std::set<std::string>& listed, OpNames& names)
{
    std::map<std::string, std::string> own; // class as the file spells it, to the pattern's name
    for (const std::string& name : listed)
        if (isOwnClass(name))
            own[plainClass(name)] = name;
    if (own.empty())
        return {};
    std::vector<std::string> out = misspelled(graph, backend, own);
    std::map<std::pair<std::string, int>, std::vector<std::size_t>> calls; // of a module
    for (std::size_t i = 0; i < names.size(); ++i) {
        const Node& node = *graph.nodes()[i];
        if (!node.isOperator() || names[i].kind == OpName::Kind::None)
            continue;
        if (own.contains(plainClass(node.scope.moduleClass)))
            calls[{node.scope.path, node.scope.callIndex}].push_back(i);
    }
    std::map<std::string, std::string> lines; // by class
    for (const auto& [call, members] : calls) {
        const std::string& pattern
            = own.at(plainClass(graph.nodes()[members.front()]->scope.moduleClass));
        std::size_t computing = 0;
        for (const std::size_t i : members)
            computing += !movesValues(names[i].base);
        if (computing != 1) {
            lines.emplace(pattern,
                          "backend pattern '" + pattern + "': module '" + call.first + "' computes "
                              + counted(std::int64_t(computing), "operator")
                              + " itself; a pattern of a custom class matches modules of one "
                                "operator, name the operators instead");
            continue;
        }
        for (const std::size_t i : members)
            names[i] = {movesValues(names[i].base) ? OpName::Kind::Inside : OpName::Kind::Module,
                        pattern, names[i].base};
    }
    for (auto& [pattern, line] : lines)
        out.push_back(std::move(line));
    return out;
}

} // namespace qs
