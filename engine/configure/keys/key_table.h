// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace qs {

/// One key of a document that users write. Plain text; code in it is in backquotes.
struct KeyRow
{
    std::string_view key;
    std::string_view type; ///< "list of strings"
    std::string_view usual; ///< the default, as JSON; "" = nothing; "required"
    std::string_view meaning; ///< one line
    std::string_view example; ///< JSON with the key, as in the document; see `keyExample`
    std::string_view torch = {}; ///< torch.ao's spelling; "" = not in torch.ao
};

/// An object of a document: the keys that its reader accepts, with their text for the reference
/// page.
struct KeyTable
{
    std::string_view place; ///< "calibration.preprocess"; "" for the document itself
    std::string_view about; ///< its content, in one line
    std::span<const KeyRow> rows;

    /// The accepted keys, in order.
    std::vector<std::string> keys() const;
    const KeyRow* find(std::string_view key) const;
};

/// "recipe", "backend", "lowering".
const std::vector<std::string>& keyDocuments();
/// Returns the tables of a document, in the order of its page; empty for an unknown document.
/// Readers check keys against these tables.
std::span<const KeyTable> keyTables(std::string_view document);
/// Returns the table of a place, for its reader. The place must exist.
const KeyTable& keyTable(std::string_view document, std::string_view place);

std::span<const KeyTable> recipeKeyTables();
std::span<const KeyTable> backendKeyTables();

/// Returns the row's example with its placeholders replaced by operators.
std::string keyExample(const KeyRow& row);
/// Replaces the words with $ in a page's text by operator names for the examples.
std::string withExamples(std::string_view page);

/// The reference page of a document, in Markdown: resources/help/recipe-keys.md ...
std::string keyPage(std::string_view document);
/// Returns the rows of a document, or those of one key, as text for a terminal; empty if no row has
/// the key.
std::string keyText(std::string_view document, std::string_view key);

} // namespace qs
