// SPDX-License-Identifier: Apache-2.0
#include "engine/project/decision_history.h"

#include "engine/configure/json/recipe_json.h"

#include <algorithm>
#include <stdexcept>

namespace qs {

namespace {

constexpr int kHistoryVersion = 1;
constexpr std::size_t kMaxCompared = 32 << 20; ///< bytes of recipes that are compared
/// Limits that no file of this program exceeds: steps, and bytes of all recipes of the history.
constexpr std::size_t kMostHistorySteps = 1000, kMostHistoryBytes = 4 * kMaxCompared;

/// A part of a history as JSON: recipes, and steps as changes.
class HistoryDocument
{
public:
    HistoryDocument(const DecisionHistory& history, const std::string& path)
        : m_history(history)
    {
        for (const Recipe& recipe : history.recipes)
            m_recipes.push_back(recipeAsJson(writtenBeside(recipe, path)));
        for (std::size_t i = 0; i < history.texts.size(); ++i) {
            Json step = {{"text", history.texts[i]},
                         {"change", Json::diff(m_recipes[i], m_recipes[i + 1])}};
            // Stores the whole recipe if the change does not reproduce it.
            if (m_recipes[i].patch(step["change"]) != m_recipes[i + 1])
                step = {{"text", history.texts[i]}, {"recipe", m_recipes[i + 1]}};
            m_sizes.push_back(step.dump().size());
            m_steps.push_back(std::move(step));
        }
        m_last = m_steps.size();
    }

    void cutTo(const HistoryLimits& limits)
    {
        while (m_last > m_first
               && (m_last - m_first > limits.maxSteps || bytes() > limits.maxBytes))
            if (m_first < m_history.current)
                ++m_first;
            else
                --m_last;
    }

    Json json() const
    {
        if (m_first == m_last)
            return {};
        const auto begin = m_steps.begin();
        return {
            {"version", kHistoryVersion},
            {"current", m_history.current - m_first},
            {"first", m_recipes[m_first]},
            {"steps",
             std::vector<Json>(begin + std::ptrdiff_t(m_first), begin + std::ptrdiff_t(m_last))}};
    }

private:
    std::size_t bytes() const
    {
        std::size_t sum = m_recipes[m_first].dump().size();
        for (std::size_t i = m_first; i < m_last; ++i)
            sum += m_sizes[i];
        return sum;
    }

    const DecisionHistory& m_history;
    std::vector<Json> m_recipes, m_steps;
    std::vector<std::size_t> m_sizes; ///< bytes by step
    std::size_t m_first = 0, m_last = 0; ///< range of steps to keep: [first, last)
};

/// The history without steps beyond `maxSteps`, so that these are not converted to JSON.
DecisionHistory nearCurrent(const DecisionHistory& history, std::size_t maxSteps)
{
    const std::size_t first = history.current - std::min(history.current, maxSteps);
    const std::size_t last = std::min(history.texts.size(), history.current + maxSteps);
    DecisionHistory out;
    out.recipes.assign(history.recipes.begin() + std::ptrdiff_t(first),
                       history.recipes.begin() + std::ptrdiff_t(last) + 1);
    out.texts.assign(history.texts.begin() + std::ptrdiff_t(first),
                     history.texts.begin() + std::ptrdiff_t(last));
    out.current = history.current - first;
    return out;
}

/// Checks a change in the form of `Json::diff`: its result must not be larger or deeper than
/// documents that this program writes. Throws if it has another form.
void checkChange(const Json& change)
{
    constexpr std::ptrdiff_t kDeepest = 64; // levels; a recipe has a dozen
    for (const Json& part : change) {
        const auto& op = part.at("op").get_ref<const std::string&>();
        const auto& path = part.at("path").get_ref<const std::string&>();
        if ((op != "add" && op != "remove" && op != "replace")
            || std::count(path.begin(), path.end(), '/') > kDeepest)
            throw std::length_error(op);
    }
}

/// Approximate length of the value's text in bytes.
std::size_t roughSize(const Json& value)
{
    std::size_t size = value.is_string() ? value.get_ref<const std::string&>().size() + 3 : 5;
    if (value.is_structured())
        for (const auto& [key, member] : value.items())
            size += (value.is_object() ? key.size() + 3 : 0) + roughSize(member);
    return size;
}

/// Throws the JSON library's exceptions if the document has another layout, and std::length_error
/// if it exceeds the limits of a history.
Result<DecisionHistory> fromDocument(const Json& json, const std::string& path)
{
    if (json.at("version").get<int>() > kHistoryVersion)
        return fail(ErrorCode::BadInput, "it was written by a newer Quantscope");
    DecisionHistory history;
    std::size_t bytes = 0;
    const auto keep = [&](const Json& document) -> Result<void> {
        bytes += roughSize(document);
        if (bytes > kMostHistoryBytes)
            throw std::length_error("bytes");
        QS_TRY(Recipe recipe, recipeFromJson(document, path));
        history.recipes.push_back(std::move(recipe));
        return {};
    };
    const Json& steps = json.at("steps");
    if (steps.size() > kMostHistorySteps)
        throw std::length_error("steps");
    Json document = json.at("first");
    QS_CHECK(keep(document));
    for (const Json& step : steps) {
        if (step.contains("recipe")) {
            document = step["recipe"];
        } else {
            checkChange(step.at("change"));
            document.patch_inplace(step.at("change"));
        }
        QS_CHECK(keep(document));
        history.texts.push_back(step.at("text").get<std::string>());
    }
    history.current = json.at("current").get<std::size_t>();
    return history;
}

} // namespace

Json historyToJson(const DecisionHistory& history, const std::string& path,
                   const HistoryLimits& limits)
{
    if (history.texts.empty())
        return {};
    // Comparing recipes with many rules takes time: limits their number so that saving stays fast.
    const std::size_t size = recipeToJson(history.recipes[history.current]).size();
    const std::size_t steps = std::min(limits.maxSteps, kMaxCompared / size);
    const DecisionHistory near = nearCurrent(history, steps);
    HistoryDocument document(near, path);
    document.cutTo(limits);
    return document.json();
}

Result<DecisionHistory> readHistory(const Json& json, const std::string& path,
                                    const Recipe& current)
{
    const auto damaged
        = [](const std::string& why) { return fail(ErrorCode::BadInput, "it is damaged: " + why); };
    try {
        QS_TRY(DecisionHistory history, fromDocument(json, path));
        if (history.current >= history.recipes.size())
            return damaged("it has no step " + std::to_string(history.current));
        if (!(history.recipes[history.current] == current))
            return damaged("it does not lead to the project's decisions");
        return history;
    } catch (const Json::exception&) {
        return damaged("a step is missing or of another shape");
    } catch (const std::length_error&) {
        return damaged("it leads to more than a history holds");
    }
}

} // namespace qs
