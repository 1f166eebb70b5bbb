// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/attribute.h"
#include "engine/import/archive/json_view.h"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace qs {

// torch.export's JSON encoding: tagged unions `{"as_int": 3}`, enumerations as numbers. Read field
// by field, ignoring unknown fields, because LibTorch's generated structures reject files of a
// newer minor version. The functions throw JsonShapeError on JSON of another structure.

/// Major version of the schema that this reader supports, and the newest tested minor version.
inline constexpr int kSchemaMajor = 8;
inline constexpr int kSchemaMinor = 17;

/// Returns the message for JSON of another structure; `what` is the JsonShapeError's text.
std::string schemaProblem(std::string_view what);

/// Removes "torch.ops." from an operator's name.
std::string targetName(std::string_view spelled);

/// Converts a ScalarType code; Unknown for unsupported types.
DType schemaDType(int number);
/// Reads a SymInt: a number, or an expression with its traced hint.
Dim schemaDim(JsonView symInt);
/// Converts a TensorMeta to a value's type.
ValueType schemaTensorType(JsonView meta);
Device schemaDevice(JsonView device);

/// Returns a union's tag and content: "as_int" and 3 for {"as_int": 3}; an empty tag if the value
/// is not a union.
std::pair<std::string_view, JsonView> unionOf(JsonView value);

/// Resolves names of values and subgraphs while an argument is read.
class ArgumentScope
{
public:
    virtual ~ArgumentScope() = default;
    virtual Argument value(std::string_view name) = 0;
    virtual Argument subgraph(JsonView graphArgument) = 0;
};

/// Converts an Argument union. An unknown tag yields None and is reported in `problem`.
Argument schemaArgument(JsonView argument, ArgumentScope& scope, std::string& problem);

/// A value declared by an output Argument; a list declares several. `name`: "" for None. `kind`
/// follows from the tag. Borrows the document.
struct DeclaredValue
{
    std::string_view name;
    ValueKind kind = ValueKind::Tensor;
    std::string_view className;
};
std::vector<DeclaredValue> schemaOutputs(JsonView argument);

} // namespace qs
