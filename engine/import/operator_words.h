// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/node.h"

#include <set>
#include <string>
#include <string_view>

namespace qs {

/// Names of operators, to look one up in.
using Words = std::set<std::string, std::less<>>;

/// The words of a text, parted by blanks.
Words words(const std::string& text);

/// The operator's name alone: "relu" for "aten.relu_.default".
std::string operatorWord(const std::string& target);

/// Operators that make floats of whole numbers, element by element.
const Words& floatMaking();

/// The argument of this name; null where it is left out or None.
const Argument* given(const Node& node, std::string_view name);
bool isTrue(const Argument* flag);

} // namespace qs
