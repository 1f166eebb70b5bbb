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
    std::string_view example; ///< JSON that holds the key, as in the document; see `keyExample`
    std::string_view torch = {}; ///< torch.ao's spelling; "" = ours alone
};

/// An object of a document: the keys that the reader accepts, and their text in the reference page.
struct KeyTable
{
    std::string_view place; ///< "calibration.preprocess"; "" for the document itself
    std::string_view about; ///< its content, in one line
    std::span<const KeyRow> rows;

    /// The keys, in order: what a reader accepts.
    std::vector<std::string> keys() const;
    const KeyRow* find(std::string_view key) const;
};

/// "recipe", "backend", "lowering".
const std::vector<std::string>& keyDocuments();
/// The tables of a document, in the order of its page; empty for an unknown document. The readers
/// check keys by these very tables.
std::span<const KeyTable> keyTables(std::string_view document);
/// The table of a place, for its reader. The place must exist.
const KeyTable& keyTable(std::string_view document, std::string_view place);

std::span<const KeyTable> recipeKeyTables();
std::span<const KeyTable> backendKeyTables();

/// The row's example, with the operators that it is about.
std::string keyExample(const KeyRow& row);
/// A text of a page with its words with $ replaced: parts of examples that name operators.
std::string withExamples(std::string_view page);

/// The reference page of a document, in Markdown: resources/help/recipe-keys.md ...
std::string keyPage(std::string_view document);
/// The rows of a document, or those of one key, as text for a terminal; empty when no row has it.
std::string keyText(std::string_view document, std::string_view key);

} // namespace qs
