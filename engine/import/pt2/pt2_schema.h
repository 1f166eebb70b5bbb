// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/attribute.h"
#include "engine/import/archive/json_view.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace qs {

// How torch.export spells things in JSON: tagged unions `{"as_int": 3}`, enumerations as numbers.
// Read field by field rather than through LibTorch's generated structures, which refuse files of a
// newer minor version: a field unknown here is left alone. The functions throw JsonShapeError on
// JSON of another shape.

/// Major version of the schema this reader was written for, and the newest minor it was tried with.
inline constexpr int kSchemaMajor = 8;
inline constexpr int kSchemaMinor = 17;

/// The message for JSON of another shape; `what` is the JsonShapeError's text.
std::string schemaProblem(std::string_view what);

/// Strips "torch.ops." off an operator's name.
std::string targetName(std::string_view spelled);

/// ScalarType number to ours; Unknown for numbers we have no type for.
DType schemaDType(int number);
/// A SymInt: a number, or an expression with its traced hint.
Dim schemaDim(JsonView symInt);
/// A TensorMeta as the type of a value.
ValueType schemaTensorType(JsonView meta);
Device schemaDevice(JsonView device);

/// The tag of a union and its content: {"as_int": 3} gives "as_int" and 3; an empty tag if the
/// value is not a union.
std::pair<std::string_view, JsonView> unionOf(JsonView value);

/// Where names of values and subgraphs are looked up while an argument is read.
class ArgumentScope
{
public:
    virtual ~ArgumentScope() = default;
    virtual Argument value(std::string_view name) = 0;
    virtual Argument subgraph(JsonView graphArgument) = 0;
};

/// An Argument union as ours. An unknown tag becomes None and is reported through `problem`.
Argument schemaArgument(JsonView argument, ArgumentScope& scope, std::string& problem);

/// A value that an output Argument declares. `name`: "" for None; a list declares several. `kind`
/// follows the tag. Borrows the document.
struct DeclaredValue
{
    std::string_view name;
    ValueKind kind = ValueKind::Tensor;
    std::string_view className;
};
std::vector<DeclaredValue> schemaOutputs(JsonView argument);

} // namespace qs
