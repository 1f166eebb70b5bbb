// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/graph/node.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace qs {

/// Makes a tuple of its one argument `iterable`, a list of values, constants or nested lists. Its
/// output has ValueKind::Tuple.
inline constexpr std::string_view kTupleTarget = "builtins.tuple";
/// Reads element `b` (an integer; negative counts from the end) of the tuple or list `a`.
inline constexpr std::string_view kGetItemTarget = "operator.getitem";

bool isTupleNode(const Node& node);
/// True for either spelling, "operator.getitem" and "_operator.getitem".
bool isGetItemNode(const Node& node);
/// The operands of a getitem; empty if its container is not a value or its index not a constant.
struct GetItem
{
    ValueRef container;
    std::int64_t index = 0;
};
std::optional<GetItem> getItemOf(const Node& node);

/// Structure of a tuple value: "(Tensor, (Tensor, Tensor))". For ValueKind::Tuple,
/// `ValueType::className` holds the text if known.
struct TupleStructure
{
    bool isTuple = false;
    std::string leaf = "Tensor"; ///< type of a leaf; "Tensor" for tensors
    std::vector<TupleStructure> items; ///< of a tuple

    std::string text() const;
    std::size_t leafCount() const;
    friend bool operator==(const TupleStructure&, const TupleStructure&) = default;
};
/// Fails if the text is not a tuple structure.
Result<TupleStructure> parseTupleStructure(std::string_view text);

} // namespace qs
