// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/configure/extension_packs.h"
#include "engine/graph/node.h"

namespace qs {

// The calls by which graphs reach the field of an object of a pack's class. Their operators are
// known: the pack is loaded. The nodes have no id and no origin yet.

/// Gets the object's field.
Node getFieldNode(const PackClassSpec& spec, ValueRef object, const Scope& scope,
                  ValueType field = {});
/// Gives the object of that type with another field.
Node replaceFieldNode(const PackClassSpec& spec, ValueRef object, ValueRef field,
                      const Scope& scope, ValueType type);

} // namespace qs
