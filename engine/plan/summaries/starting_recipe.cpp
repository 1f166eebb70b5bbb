// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/summaries/starting_recipe.h"

#include "engine/base/text.h"
#include "engine/configure/backend/target.h"
#include "engine/configure/keys/key_table.h"
#include "engine/plan/names/op_vocabulary.h"
#include "engine/plan/summaries/coverage.h"

#include <algorithm>
#include <filesystem>
#include <unordered_map>

namespace qs {

namespace {

constexpr std::size_t kMostRules
    = 200; ///< listed of a kind; of a large model's modules the rest is counted

/// Rules of one kind: keys with the number of operators that each matches, in graph order.
struct Listed
{
    std::vector<std::pair<std::string, int>> rules;
    std::unordered_map<std::string, std::size_t> places;

    void count(const std::string& key)
    {
        const auto [place, isNew] = places.try_emplace(key, rules.size());
        if (isNew)
            rules.emplace_back(key, 0);
        ++rules[place->second].second;
    }
};

class RecipeText
{
public:
    RecipeText(const Graph& graph, const Plan& plan, const Recipe& recipe)
        : m_recipe(recipe)
        , m_global(globalQConfig(recipe))
    {
        const auto nodes = graph.nodes();
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            const NodePlan& decided = plan.nodes[i];
            if (!nodes[i]->isOperator() || decided.pattern.empty())
                continue;
            // The first operator of a fusion decides for the whole fusion.
            if (decided.group >= 0 && plan.groups[std::size_t(decided.group)].root != decided.node)
                continue;
            // Its module, and those that hold it.
            if (const std::string& path = nodes[i]->scope.path; !path.empty()) {
                for (auto dot = path.find('.'); dot != path.npos; dot = path.find('.', dot + 1))
                    m_modules.count(path.substr(0, dot));
                m_modules.count(path);
            }
            if (const OpName name = opNameOf(*nodes[i]); !name.name.empty())
                m_types.count(name.name);
        }
        m_text = "// A recipe for " + std::filesystem::path(graph.info().path).filename().string()
            + ": " + coverageOf(plan).text() + ".\n"
            + "// A line with a key in a comment shows the default, or an example: take the "
              "slashes away to "
              "use it.\n"
              "// 'quantscope keys recipe KEY' says more about a key.\n";
    }

    std::string text()
    {
        m_text += "{\n";
        addTable("", 1);
        return m_text + "}\n";
    }

private:
    /// The table of a key, if it has one: "calibration" has "calibration.preprocess".
    static const KeyTable* tableOf(const std::string& place)
    {
        for (const KeyTable& table : recipeKeyTables())
            if (table.place == place)
                return &table;
        return nullptr;
    }

    void addLine(int depth, const std::string& text, bool isComment)
    {
        m_text += std::string(std::size_t(2 * depth), ' ') + (isComment ? "// " : "") + text + "\n";
    }

    void addTable(const std::string& place, int depth)
    {
        for (const KeyRow& row : tableOf(place)->rows) {
            const std::string key(row.key);
            const std::string inner = place.empty() ? key : place + "." + key;
            if (key == "custom_modules" && place.empty())
                continue; // also listed under "prepare"
            addLine(depth, std::string(row.meaning), true);
            if (const std::string own = valueOf(inner); !own.empty()) {
                addLine(depth, "\"" + key + "\": " + own + ",", false);
            } else if (inner == "mapping.object_type" || inner == "mapping.module_name") {
                addLine(depth, "\"" + key + "\": [", false);
                addRules(inner == "mapping.module_name" ? m_modules.rules : m_types.rules,
                         depth + 1);
                addLine(depth, "],", false);
            } else if (tableOf(inner) && inner != "calibration.preprocess") {
                addLine(depth, "\"" + key + "\": {", false);
                addTable(inner, depth + 1);
                addLine(depth, "},", false);
            } else {
                addLine(depth, exampleOf(row), true);
            }
        }
    }

    void addRules(const std::vector<std::pair<std::string, int>>& rules, int depth)
    {
        for (std::size_t i = 0; i < std::min(rules.size(), kMostRules); ++i)
            addLine(depth,
                    "[\"" + rules[i].first + "\", null], // " + counted(rules[i].second, "layer"),
                    true);
        if (rules.size() > kMostRules)
            addLine(depth, std::to_string(rules.size() - kMostRules) + " more", true);
    }

    /// The value that this recipe sets.
    std::string valueOf(const std::string& place) const
    {
        const auto quoted = [](const std::string& text) { return "\"" + text + "\""; };
        if (place == "format")
            return quoted("quantscope.recipe");
        if (place == "version")
            return "1";
        if (place == "backend")
            return quoted(m_recipe.target());
        if (place == "mapping.global")
            return m_global.empty() ? "null" : quoted(m_global);
        if (place == "calibration.batch_size")
            return std::to_string(m_recipe.calibration.batchSize);
        if (place == "calibration.batches")
            return std::to_string(m_recipe.calibration.batches);
        return {};
    }

    /// The default value of a key in a recipe; for a key without default, its example.
    static std::string exampleOf(const KeyRow& row)
    {
        const std::string head = "\"" + std::string(row.key) + "\": ";
        if (!row.usual.empty() && !row.usual.starts_with("required"))
            return head + std::string(row.usual) + ",";
        std::string example = keyExample(row);
        const std::size_t at = example.find(head);
        if (at == std::string::npos)
            return example;
        std::string value = example.substr(at);
        // The objects around it end with it.
        auto open = std::count(value.begin(), value.end(), '{'),
             shut = std::count(value.begin(), value.end(), '}');
        while (shut-- > open && value.ends_with('}'))
            value.pop_back();
        return value + ",";
    }

    const Recipe& m_recipe;
    std::string m_global, m_text;
    Listed m_modules, m_types;
};

} // namespace

std::string startingRecipe(const Graph& graph, const Plan& plan, const Recipe& recipe)
{
    return RecipeText(graph, plan, recipe).text();
}

} // namespace qs
