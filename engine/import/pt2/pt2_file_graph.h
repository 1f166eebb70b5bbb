// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/value.h"
#include "engine/import/archive/json_view.h"

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace qs {

/// A graph of a .pt2 with its tables of types looked up by name. Borrows the document.
class Pt2FileGraph
{
public:
    /// Throws JsonShapeError if a table is not a JSON object.
    explicit Pt2FileGraph(JsonView json);

    JsonView json() const { return m_json; }
    /// The type that the graph states for one of its values.
    ValueType typeOf(std::string_view name, ValueKind kind) const;
    /// Its record of a tensor, as the file has it; nothing if not listed.
    std::optional<JsonView> tensorMeta(std::string_view name) const;

private:
    using Table = std::unordered_map<std::string_view, JsonView>;

    JsonView m_json;
    Table m_tensors;
    Table m_symbols; ///< integers, numbers and truth values
};

/// A node as a file spells it. Borrows the document.
struct Pt2NodeSpec
{
    std::string target; ///< without "torch.ops."
    std::string_view name;
    std::vector<JsonView> inputs, outputs;
    std::string_view moduleStack, stackTrace, torchFn; ///< of its metadata

    /// Throws JsonShapeError.
    static Pt2NodeSpec read(JsonView node);
    /// The node's own name, "" without one.
    static std::string_view nameOf(JsonView node);
    /// For a call that was threaded on a token to keep its place among other effects: the plain
    /// call, since nodes run in order here.
    Pt2NodeSpec withoutToken() const;
};

} // namespace qs
