// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/graph/attribute.h"

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace qs {

// How torch.export spells things in JSON: tagged unions `{"as_int": 3}`, enumerations as numbers.
// Read field by field rather than through LibTorch's generated structures, which refuse files of a
// newer minor version: a field unknown here is left alone. The functions throw nlohmann's
// exceptions on JSON of another shape; the importer turns them into one error.

/// Major version of the schema this reader was written for, and the newest minor it was tried with.
inline constexpr int kSchemaMajor = 8;
inline constexpr int kSchemaMinor = 17;

/// Parses a record. Errors (BadInput): no JSON; nested so deeply that walking it would overflow the
/// stack.
Result<nlohmann::json> parseJson(const std::string& text);

/// Strips "torch.ops." off an operator's name.
std::string targetName(std::string_view spelled);

/// ScalarType number to ours; Unknown for numbers we have no type for.
DType schemaDType(int number);
/// A SymInt: a number, or an expression with its traced hint.
Dim schemaDim(const nlohmann::json& symInt);
/// A TensorMeta as the type of a value.
ValueType schemaTensorType(const nlohmann::json& meta);
Device schemaDevice(const nlohmann::json& device);

/// The tag of a union and what it holds: {"as_int": 3} gives "as_int" and 3.
std::pair<std::string, const nlohmann::json*> unionOf(const nlohmann::json& value);

/// Where names of values and subgraphs are looked up while an argument is read.
struct ArgumentScope
{
    std::function<Argument(const std::string& name)> value;
    std::function<Argument(const nlohmann::json& graphArgument)> subgraph;
};

/// An Argument union as ours. An unknown tag becomes None and is reported through `problem`.
Argument schemaArgument(const nlohmann::json& argument, const ArgumentScope& scope,
                        std::string& problem);

/// Names of the values an output Argument declares, "" for one that is None; a list gives several.
/// `kind` follows the tag.
struct DeclaredValue
{
    std::string name;
    ValueKind kind = ValueKind::Tensor;
    std::string className;
};
std::vector<DeclaredValue> schemaOutputs(const nlohmann::json& argument);

} // namespace qs
