// SPDX-License-Identifier: Apache-2.0
#include "engine/export/torchscript/script_modules.h"

#include "engine/base/text.h"

#include <algorithm>
#include <cctype>

namespace qs {

namespace {

std::string rootClass(const ModelInfo& info)
{
    return identifier(info.name.empty() ? "Model" : lastPart(info.name));
}

std::string ownerOf(const std::string& path)
{
    const auto dot = path.rfind('.');
    return dot == std::string::npos ? std::string() : path.substr(0, dot);
}

} // namespace

std::string identifier(const std::string& text)
{
    std::string out = text;
    std::replace_if(
        out.begin(), out.end(), [](unsigned char c) { return !std::isalnum(c) && c != '_'; }, '_');
    if (out.empty() || std::isdigit(static_cast<unsigned char>(out.front())))
        out.insert(out.begin(), '_');
    return out;
}

ScriptModules::ScriptModules(const Graph& graph, const CodeCalls& names)
{
    const c10::QualifiedName root("__torch__." + rootClass(graph.info()));
    keep("", torch::jit::Module(root));
    for (const NodePtr& node : graph.nodes())
        m_classes.emplace(node->scope.path, lastPart(node->scope.moduleClass));
    for (const auto* modules : {&names.modules, &names.holders})
        for (const auto& [node, called] : *modules)
            m_classes[called.path] = called.className;
    // In graph order, and before attributes, which could take a module's name.
    for (const NodePtr& node : graph.nodes()) {
        if (node->isStored())
            add(ownerOf(node->target));
        for (const auto* modules : {&names.modules, &names.holders})
            if (const auto called = modules->find(node->id); called != modules->end())
                add(called->second.path);
    }
}

void ScriptModules::add(const std::string& path)
{
    if (has(path))
        return;
    const std::string owner = ownerOf(path);
    add(owner);
    Branch& parent = m_modules.at(owner);
    const auto known = m_classes.find(path);
    const std::string name = known == m_classes.end() ? std::string() : known->second;
    constexpr bool kUnique = true; // another class of that name gets a prefix
    // A module of torch.nn keeps its class name, by which other programs recognize it.
    const bool isTorch = name.starts_with("torch.nn.");
    const torch::jit::Module child(
        c10::QualifiedName("__torch__."
                           + (isTorch ? name : identifier(name.empty() ? "Module" : name))),
        parent.module._ivalue()->compilation_unit(), kUnique);
    const std::string own = lastPart(path);
    parent.module.register_module(own, child);
    parent.names.insert(own);
    keep(path, child);
}

void ScriptModules::keep(const std::string& path, torch::jit::Module module)
{
    module.register_attribute("training", c10::BoolType::get(), false);
    m_modules.emplace(path, Branch {std::move(module), {"training", "forward", "self"}});
}

ScriptModules::Place ScriptModules::place(const std::string& path, const std::string& wanted)
{
    const std::string base = identifier(wanted);
    std::string name = base;
    for (int suffix = 1; !m_modules.at(path).names.insert(name).second; ++suffix)
        name = base + "_" + std::to_string(suffix);
    return {path, name};
}

ScriptModules::Place ScriptModules::keepNumber(const std::string& path, const std::string& name,
                                               const at::IValue& number)
{
    torch::jit::Module& module = at(path);
    if (module.hasattr(name) && module.attr(name) == number)
        return {path, name};
    Place made = place(path, name);
    module.register_attribute(made.name, number.type(), number);
    return made;
}

} // namespace qs
