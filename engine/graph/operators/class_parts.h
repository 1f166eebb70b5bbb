// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/node.h"

#include <string>
#include <string_view>
#include <vector>

namespace qs {

/// Names of operations on objects of a pack's class in graphs. An object of an adapted class is
/// represented by two values: its field, a plain tensor, and the rest, an object whose field is
/// ignored. Each operator that takes or returns such objects has an overload on these parts:
/// "sites.conv.parts" takes the field `x` followed by the rest `x_rest`, and returns both for each
/// resulting object. Methods of the class are operators: "sites.SparseTensor_dense".

/// Suffix of the argument that holds an object's rest.
inline constexpr std::string_view kRestSuffix = "_rest";

/// The dispatcher's name of the overload that works on parts: "parts", "Scalar_parts".
std::string partsOverload(std::string_view overload);
/// "sites.conv.parts" for "sites.conv.default".
std::string partsTarget(std::string_view target);
bool isPartsTarget(std::string_view target);
/// "sites.conv.default" for "sites.conv.parts"; other targets unchanged.
std::string wholeTarget(std::string_view target);

/// True if the node calls the default overload of one of these operators
/// ("sites::SparseTensor_features").
bool callsAny(const Node& node, const std::vector<std::string>& ops);

/// "sites::SparseTensor" for "__torch__.torch.classes.sites.SparseTensor"; other texts unchanged.
std::string plainClassName(std::string_view className);
/// "__torch__.torch.classes.sites.SparseTensor" for "sites::SparseTensor".
std::string torchClassName(std::string_view plain);
/// True for a class that LibTorch does not define.
bool isForeignClass(std::string_view className);
/// Returns the foreign classes named in a program's text, without duplicates, in order.
std::vector<std::string> foreignClassesIn(std::string_view text);

/// "features" for a method that reads this property, else the method itself.
std::string_view memberName(std::string_view method);

/// The operator that represents a method of a class (under either name) in graphs:
/// "sites::SparseTensor_dense". A property's reader has its name, the constructor is "new".
std::string methodOperator(std::string_view className, std::string_view method);

} // namespace qs
