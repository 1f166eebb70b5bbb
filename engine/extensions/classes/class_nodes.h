// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/configure/extension_packs.h"
#include "engine/graph/node.h"

namespace qs {

// Nodes that access the field of an object of a pack's class. The pack must be loaded. The nodes
// have no id and no origin yet.

/// Returns a node that reads the object's field.
Node getFieldNode(const PackClassSpec& spec, ValueRef object, const Scope& scope,
                  ValueType field = {});
/// Returns a node that returns the object, of that type, with another field.
Node replaceFieldNode(const PackClassSpec& spec, ValueRef object, ValueRef field,
                      const Scope& scope, ValueType type);

} // namespace qs
