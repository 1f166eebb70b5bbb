// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/node.h"

#include <string>
#include <string_view>
#include <vector>

namespace qs {

/// Names of operations on objects of a pack's class in graphs. An object of an adapted class is two
/// values: its field, a plain tensor, and the rest, an object whose own field is not read. Each
/// operator that takes or returns such objects has an overload that works on the parts:
/// "sites.conv.parts" takes the field `x` and, after it, the rest `x_rest`, and gives both for each
/// object of its results. Methods of the class are operators: "sites.SparseTensor_dense".

/// Suffix of an argument's name that names its rest.
inline constexpr std::string_view kRestSuffix = "_rest";

/// The overload, as the dispatcher names it, that works by parts: "parts", "Scalar_parts".
std::string partsOverload(std::string_view overload);
/// "sites.conv.parts" for "sites.conv.default".
std::string partsTarget(std::string_view target);
bool isPartsTarget(std::string_view target);
/// "sites.conv.default" for "sites.conv.parts"; any other target as it is.
std::string wholeTarget(std::string_view target);

/// Whether the node calls one of these operators ("sites::SparseTensor_features") as it is.
bool callsAny(const Node& node, const std::vector<std::string>& ops);

/// "sites::SparseTensor" for "__torch__.torch.classes.sites.SparseTensor"; the text itself where it
/// is not the name of such a class.
std::string plainClassName(std::string_view className);
/// "__torch__.torch.classes.sites.SparseTensor" for "sites::SparseTensor".
std::string torchClassName(std::string_view plain);
/// True for a class that LibTorch does not define.
bool isForeignClass(std::string_view className);
/// The foreign classes that the text of a program names, each once, in order.
std::vector<std::string> foreignClassesIn(std::string_view text);

/// "features" for a method that reads this property, else the method itself.
std::string_view memberName(std::string_view method);

/// The operator that represents a method of a class (under either name) in graphs:
/// "sites::SparseTensor_dense". A property's reader has its name, the constructor is "new".
std::string methodOperator(std::string_view className, std::string_view method);

} // namespace qs
