// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/block/prepare_settings.h"

#include "engine/base/json/json_reader.h"
#include "engine/base/text.h"
#include "engine/custom_modules/custom_module.h"
#include "engine/plan/names/op_vocabulary.h"

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

/// Finds the innermost entry of the block that speaks of a module.
class LeafSearch
{
public:
    LeafSearch(const Graph& graph, const PrepareSettings& settings)
        : m_graph(graph)
        , m_settings(settings)
    {
    }

    /// The modes that the maps of custom modules give the module whose whole forward the node is;
    /// null if they do not name its class.
    const std::set<std::string>* mappedModes(const Node& node) const
    {
        const auto found = m_settings.mappedModes.find(canonicalTypeName(node.scope.moduleClass));
        const bool isWhole = customModuleOf(node) || opNameOf(node).isModule();
        return found != m_settings.mappedModes.end() && isWhole ? &found->second : nullptr;
    }

    /// Without a key where no leaf holds the node. A leaf that is mapped holds itself no longer.
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

/// What the maps of custom modules start from, by class: static ones where they prepare, the other
/// modes, which observe nothing, where they convert.
std::map<std::string, std::set<std::string>> mappedModesOf(const PrepareBlock& block)
{
    std::map<std::string, std::set<std::string>> modes;
    const auto add = [&modes](const Json& from, const char* key, const char* mode) {
        if (!from.contains(key) || !from[key].is_object() || !from[key].contains(mode))
            return;
        for (const auto& [name, target] : from[key][mode].items())
            modes[canonicalTypeName(name)].insert(mode);
    };
    add(block.prepare, "float_to_observed_custom_module_class", "static");
    for (const char* mode : {"dynamic", "weight_only"})
        add(block.convert, "observed_to_quantized_custom_module_class", mode);
    return modes;
}

bool isInside(const std::string& path, const std::set<std::string>& modules)
{
    for (const std::string& module : modules)
        if (ModuleTree::isWithin(path, module))
            return true;
    return false;
}

} // namespace

Result<PrepareBlock> readPrepareBlock(const Recipe& recipe)
{
    PrepareBlock block;
    QS_TRY(block.prepare, parseJson(recipe.prepareJson, "recipe"));
    QS_TRY(block.convert, parseJson(recipe.convertJson, "recipe"));
    if (!block.prepare.is_object() || !block.convert.is_object())
        return fail(ErrorCode::BadInput, "recipe: \"prepare\" and \"convert\" must be objects");
    return block;
}

Result<PrepareSettings> prepareSettings(const PrepareBlock& block)
{
    const JsonPlace root(block.prepare, "recipe", "prepare");
    const auto names = [&root](const char* key) -> Result<std::vector<std::string>> {
        if (!root.has(key))
            return std::vector<std::string>();
        return root.key(key).strings();
    };
    PrepareSettings settings;
    const std::pair<const char*, std::set<std::string>*> sets[] {
        {kLeafName, &settings.leafNames},
        {kLeafClass, &settings.leafClasses},
        {kOnly, &settings.onlyModules},
        {"unfuse", &settings.unfused}};
    for (const auto& [key, target] : sets) {
        QS_TRY(const std::vector<std::string> found, names(key));
        for (const std::string& name : found)
            target->insert(target == &settings.leafClasses ? canonicalTypeName(name) : name);
    }
    QS_TRY(settings.wraps, names(kWrap));
    settings.notFinite = block.prepare.value("not_finite", settings.notFinite);
    settings.mappedModes = mappedModesOf(block);
    return settings;
}

std::vector<WrappedScope> wrapsOf(const Graph& graph, const Recipe& recipe)
{
    const auto block = readPrepareBlock(recipe);
    const auto settings = block ? prepareSettings(*block) : fail(block.error());
    return settings ? ModuleChoices(graph, *settings).wraps() : std::vector<WrappedScope>();
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
