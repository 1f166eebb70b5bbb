// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/value.h"
#include "engine/import/archive/json_view.h"

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace qs {

/// A graph of a .pt2 with its type tables indexed by name. Borrows the document.
class Pt2FileGraph
{
public:
    /// Throws JsonShapeError if a table is not a JSON object.
    explicit Pt2FileGraph(JsonView json);

    JsonView json() const { return m_json; }
    /// Returns the type that the graph declares for a value.
    ValueType typeOf(std::string_view name, ValueKind kind) const;
    /// Returns the file's record of a tensor; nullopt if not listed.
    std::optional<JsonView> tensorMeta(std::string_view name) const;

private:
    using Table = std::unordered_map<std::string_view, JsonView>;

    JsonView m_json;
    Table m_tensors;
    Table m_symbols; ///< symbolic integers, floats and bools
};

/// A node as stored in the file. Borrows the document.
struct Pt2NodeSpec
{
    std::string target; ///< without "torch.ops."
    std::string_view name;
    std::vector<JsonView> inputs, outputs;
    std::string_view moduleStack, stackTrace, torchFn; ///< from its metadata

    /// Throws JsonShapeError.
    static Pt2NodeSpec read(JsonView node);
    /// Returns the node's name, "" if it has none.
    static std::string_view nameOf(JsonView node);
    /// Returns the plain call for a call with an effect token. Tokens only fix the order of
    /// effects; nodes run in order here.
    Pt2NodeSpec withoutToken() const;
};

} // namespace qs
