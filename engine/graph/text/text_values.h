// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/graph/attribute.h"
#include "engine/graph/text/text_lexer.h"

#include <string>
#include <unordered_map>

namespace qs {

/// The values defined so far, by name.
using ValueNames = std::unordered_map<std::string, ValueRef>;

/// Reads one argument of the text form: a reference, a literal, a list. Errors say what was
/// expected.
Result<Argument> readArgumentText(TextLexer& lexer, const ValueNames& names);
/// Reads the type of a value: "float32[2, 3]", "SymInt", ...
Result<ValueType> readTypeText(TextLexer& lexer);
/// "cuda:1" as a device.
Device deviceFromText(const std::string& text);

} // namespace qs
