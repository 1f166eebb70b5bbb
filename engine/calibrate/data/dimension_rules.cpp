// SPDX-License-Identifier: Apache-2.0
#include "engine/calibrate/data/dimension_rules.h"

#include "engine/graph/text/size_expression.h"

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

namespace qs {

namespace {

using Symbols = std::map<std::string, std::int64_t>;

/// Returns the only name in an expression without a known value; empty without such a name, or
/// several.
std::string openName(const std::string& expression, const Symbols& known)
{
    std::string found, word;
    for (std::size_t i = 0; i <= expression.size(); ++i) {
        const unsigned char c = i < expression.size() ? expression[i] : ' ';
        if (std::isalnum(c) || c == '_') {
            word += char(c);
            continue;
        }
        if (isSizeName(word) && !known.contains(word) && word != found) {
            if (!found.empty())
                return {};
            found = word;
        }
        word.clear();
    }
    return found;
}

/// The value of `name` for which an expression has this size.
struct Solution
{
    bool isStraight = false; ///< the expression is linear in `name`; else not solved
    std::optional<std::int64_t> value; ///< nullopt if no integer solves it
};

Solution solve(const std::string& expression, const std::string& name, std::int64_t size,
               Symbols symbols)
{
    std::int64_t at[3] = {};
    for (int i = 0; i < 3; ++i) {
        symbols[name] = i;
        const auto value = evaluateSize(expression, symbols);
        if (!value)
            return {};
        at[i] = *value;
    }
    const std::int64_t step = at[1] - at[0];
    if (step == 0 || at[2] - at[1] != step)
        return {};
    symbols[name] = (size - at[0]) / step;
    const bool fits = evaluateSize(expression, symbols) == size;
    return {true, fits ? std::optional(symbols[name]) : std::nullopt};
}

} // namespace

DimensionRules::DimensionRules(const Graph& graph)
{
    const auto inputs = graph.inputs();
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        const ValueType& type = inputs[i]->outputs.at(0).type;
        for (std::size_t d = 0; type.kind == ValueKind::Tensor && d < type.shape.size(); ++d)
            if (type.shape[d].isSymbolic())
                m_dims.push_back({i, inputs[i]->name, d, type.shape[d].symbol});
    }
    std::stable_partition(m_dims.begin(), m_dims.end(),
                          [](const OpenDim& place) { return isSizeName(place.expression); });
    const auto record = nlohmann::json::parse(graph.info().exportRecord, nullptr, false);
    const auto ranges = record.is_object() ? record.find("range_constraints") : record.end();
    if (ranges == record.end() || !ranges->is_object())
        return;
    for (const auto& [symbol, range] : ranges->items()) {
        Range known;
        if (const auto it = range.find("min_val"); it != range.end() && it->is_number_integer())
            known.least = it->get<std::int64_t>();
        if (const auto it = range.find("max_val"); it != range.end() && it->is_number_integer())
            known.most = it->get<std::int64_t>();
        m_ranges[symbol] = known;
    }
}

Error DimensionRules::misfit(const OpenDim& place, std::int64_t size, const std::string& what,
                             const std::string& wanted)
{
    return makeError(ErrorCode::BadInput,
                     what + ": input '" + place.inputName + "' has size " + std::to_string(size)
                         + " in dimension " + std::to_string(place.dim) + ", the model takes "
                         + wanted);
}

Result<void> DimensionRules::checkRange(const OpenDim& place, std::int64_t size,
                                        const std::string& what) const
{
    constexpr std::int64_t kNoBound = 2;
    const auto it = m_ranges.find(place.expression);
    if (it == m_ranges.end())
        return {};
    const Range& range = it->second;
    const bool low = range.least > kNoBound && size < range.least;
    if (!low && !(range.most && size > *range.most))
        return {};
    const std::string least = std::to_string(range.least);
    const std::string wanted
        = range.most ? least + " to " + std::to_string(*range.most) : "at least " + least;
    return fail(misfit(place, size, what, wanted + " there")
                    .withHint(place.dim == 0
                                  ? "choose another batch_size, or export with a wider range"
                                  : "give data of that size, or export with a wider range"));
}

Result<void> DimensionRules::check(const std::vector<at::IValue>& inputs,
                                   const std::string& what) const
{
    Symbols symbols;
    std::map<std::string, const OpenDim*> boundAt;
    for (const OpenDim& place : m_dims) {
        if (place.input >= inputs.size() || !inputs[place.input].isTensor())
            continue;
        const at::Tensor& tensor = inputs[place.input].toTensor();
        if (std::int64_t(place.dim) >= tensor.dim())
            continue;
        const std::int64_t size = tensor.size(std::int64_t(place.dim));
        if (isSizeName(place.expression))
            QS_CHECK(checkRange(place, size, what));
        if (const std::string name = openName(place.expression, symbols); !name.empty()) {
            const Solution solution = solve(place.expression, name, size, symbols);
            if (solution.isStraight && !solution.value)
                return fail(misfit(place, size, what, place.expression));
            if (solution.value) {
                symbols[name] = *solution.value;
                boundAt[name] = &place;
            }
            continue;
        }
        const auto wanted = evaluateSize(place.expression, symbols);
        if (!wanted || *wanted == size)
            continue;
        const auto other = boundAt.find(place.expression);
        return fail(misfit(place, size, what,
                           std::to_string(*wanted)
                               + (other == boundAt.end() ? " (" + place.expression + ")"
                                                         : ", the size of dimension "
                                          + std::to_string(other->second->dim) + " of '"
                                          + other->second->inputName + "'")));
    }
    return {};
}

} // namespace qs
