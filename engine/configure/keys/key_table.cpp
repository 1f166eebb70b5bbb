// SPDX-License-Identifier: Apache-2.0
#include "engine/configure/keys/key_table.h"

#include <algorithm>

namespace qs {

std::vector<std::string> KeyTable::keys() const
{
    std::vector<std::string> out;
    for (const KeyRow& row : rows)
        out.emplace_back(row.key);
    return out;
}

const KeyRow* KeyTable::find(std::string_view key) const
{
    const auto found = std::find_if(rows.begin(), rows.end(),
                                    [key](const KeyRow& row) { return row.key == key; });
    return found == rows.end() ? nullptr : &*found;
}

const std::vector<std::string>& keyDocuments()
{
    static const std::vector<std::string> documents {"recipe", "backend", "lowering"};
    return documents;
}

std::span<const KeyTable> keyTables(std::string_view document)
{
    if (document == "backend")
        return backendKeyTables();
    if (document == "recipe")
        return recipeKeyTables();
    // Lowering rows are a part of the recipe with a separate page.
    const auto all = recipeKeyTables();
    const auto first = std::find_if(all.begin(), all.end(), [](const KeyTable& table) {
        return table.place.starts_with("convert.lowering");
    });
    const auto count = std::count_if(first, all.end(), [](const KeyTable& table) {
        return table.place.starts_with("convert.lowering");
    });
    return document == "lowering"
        ? all.subspan(std::size_t(first - all.begin()), std::size_t(count))
        : std::span<const KeyTable>();
}

const KeyTable& keyTable(std::string_view document, std::string_view place)
{
    const auto tables = keyTables(document);
    return *std::find_if(tables.begin(), tables.end(),
                         [place](const KeyTable& table) { return table.place == place; });
}

} // namespace qs
