// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/block/prepare_settings.h"

#include "engine/base/text.h"
#include "engine/custom_modules/custom_module.h"
#include "engine/plan/names/op_vocabulary.h"

#include <algorithm>
#include <map>

namespace qs {

namespace {

constexpr const char* kLeafName = "non_traceable_module_name";
constexpr const char* kLeafClass = "non_traceable_module_class";
constexpr const char* kOnly = "only_modules";
constexpr const char* kWrap = "wrap";

std::string listed(const std::set<std::string>& names)
{
    std::string text;
    for (const std::string& name : names)
        text += (text.empty() ? "" : ", ") + inQuotes(name);
    return text;
}

/// Finds the innermost entry of the block that names a module around a node.
class LeafSearch
{
public:
    LeafSearch(const Graph& graph, const PrepareSettings& settings)
        : m_graph(graph)
        , m_settings(settings)
    {
    }

    /// The modes in the maps of custom modules for the module whose whole forward is this node;
    /// null if they do not name its class.
    const std::set<std::string>* mappedModes(const Node& node) const
    {
        const auto found = m_settings.mappedModes.find(canonicalTypeName(node.scope.moduleClass));
        const bool isWhole = customModuleOf(node) || opNameOf(node).isModule();
        return found != m_settings.mappedModes.end() && isWhole ? &found->second : nullptr;
    }

    /// The leaf around a node; an empty key if no leaf contains it. A mapped leaf does not contain
    /// itself.
    ModuleChoice of(const Node& node) const
    {
        const bool isMapped = mappedModes(node) != nullptr;
        if (const std::string& own = node.scope.moduleClass; !isMapped && isLeafClass(own))
            return byClass(own, node.scope.path);
        for (std::string path = node.scope.path; !path.empty();
             path = ModuleTree::parentPath(path)) {
            if (isMapped && path == node.scope.path)
                continue;
            if (m_settings.leafNames.count(path))
                return {kLeafName, path,
                        Reason::of<ReasonCode::ModuleKeptFloat>(kLeafName,
                                                                "module " + inQuotes(path), ""),
                        "take " + inQuotes(path) + " off prepare." + kLeafName};
            const ModuleEntry* module = m_graph.modules().tryGet(path);
            if (module && isLeafClass(module->moduleClass))
                return byClass(module->moduleClass, path);
        }
        return {};
    }

    /// Whether the block names the node's own module as a leaf.
    bool isLeaf(const Node& node) const
    {
        return isLeafClass(node.scope.moduleClass) || m_settings.leafNames.count(node.scope.path);
    }

private:
    bool isLeafClass(const std::string& moduleClass) const
    {
        return !m_settings.leafClasses.empty()
            && m_settings.leafClasses.count(canonicalTypeName(moduleClass)) > 0;
    }

    static ModuleChoice byClass(const std::string& moduleClass, const std::string& path)
    {
        const std::string name = canonicalTypeName(moduleClass);
        return {kLeafClass, name,
                Reason::of<ReasonCode::ModuleKeptFloat>(kLeafClass,
                                                        "modules of class " + inQuotes(name), path),
                "take " + inQuotes(name) + " off prepare." + kLeafClass};
    }

    const Graph& m_graph;
    const PrepareSettings& m_settings;
};

bool isInside(const std::string& path, const std::set<std::string>& modules)
{
    for (const std::string& module : modules)
        if (ModuleTree::isWithin(path, module))
            return true;
    return false;
}

} // namespace

PrepareSettings prepareSettings(const Recipe& recipe)
{
    const PrepareConfig& prepare = recipe.prepare;
    PrepareSettings settings;
    settings.leafNames = {prepare.leafNames.begin(), prepare.leafNames.end()};
    settings.onlyModules = {prepare.onlyModules.begin(), prepare.onlyModules.end()};
    settings.wraps = prepare.wrap;
    settings.unfused = {prepare.unfuse.begin(), prepare.unfuse.end()};
    settings.notFinite = prepare.notFinite;
    for (const std::string& name : prepare.leafClasses)
        settings.leafClasses.insert(canonicalTypeName(name));
    const auto add = [&settings](const ClassChange& change) {
        settings.mappedModes[canonicalTypeName(change.from)].insert(change.mode);
    };
    std::ranges::for_each(prepare.observed, add);
    for (const ClassChange& change : recipe.convert.quantized)
        if (change.mode != "static") // static maps start from an observed class
            add(change);
    return settings;
}

std::vector<WrappedScope> wrapsOf(const Graph& graph, const Recipe& recipe)
{
    return ModuleChoices(graph, prepareSettings(recipe)).wraps();
}

ModuleChoices::ModuleChoices(const Graph& graph, const PrepareSettings& settings)
{
    const LeafSearch leaves(graph, settings);
    std::map<Reason, std::pair<ModuleChoice, std::vector<NodeId>>> byReason;
    std::vector<NodeId> outside;
    for (const NodePtr& node : graph.nodes()) {
        if (!node->isOperator())
            continue;
        if (ModuleChoice leaf = leaves.of(*node); !leaf.key.empty()) {
            auto& [choice, nodes] = byReason[leaf.reason];
            nodes.push_back(node->id);
            choice = std::move(leaf);
            continue;
        }
        if (const auto* modes = leaves.mappedModes(*node); modes && leaves.isLeaf(*node))
            m_mapped.emplace(node->id, *modes);
        if (!settings.onlyModules.empty() && !isInside(node->scope.path, settings.onlyModules)) {
            outside.push_back(node->id);
        }
    }
    for (const auto& [reason, leaf] : byReason)
        add(leaf.first, leaf.second);
    m_wraps = wrappedScopes(graph, settings.wraps);
    for (WrappedScope& wrap : m_wraps)
        std::erase_if(wrap.inner, [this](NodeId node) { return keepsFloat(node); });
    for (const WrappedScope& wrap : m_wraps)
        add({kWrap, wrap.key, Reason::of<ReasonCode::InsideWrap>(wrap.key),
             "take " + inQuotes(wrap.key) + " off prepare.wrap"},
            wrap.glue);
    if (!outside.empty())
        add({kOnly, "", Reason::of<ReasonCode::OutsideOnlyModules>(listed(settings.onlyModules)),
             std::string("name its module under prepare.") + kOnly + " as well"},
            outside);
}

void ModuleChoices::add(const ModuleChoice& choice, const std::vector<NodeId>& nodes)
{
    for (const NodeId node : nodes)
        m_of.emplace(node, m_choices.size());
    m_choices.push_back(choice);
}

const std::set<std::string>* ModuleChoices::mappedModes(NodeId node) const
{
    const auto found = m_mapped.find(node);
    return found == m_mapped.end() ? nullptr : &found->second;
}

const ModuleChoice* ModuleChoices::tryGet(NodeId node) const
{
    const auto found = m_of.find(node);
    return found == m_of.end() ? nullptr : &m_choices[found->second];
}

} // namespace qs
