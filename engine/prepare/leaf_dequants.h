// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/graph/graph_edit.h"

#include <vector>

namespace qs {

/// Takes the nested tuple that a custom module returns apart, puts a dequantize stub
/// (`kStubTarget`) behind each tensor, builds the same tuple of the stubs and points every
/// reader of the module, or of an element of it, at its counterpart. Where a reader takes one leaf,
/// the stub stands right before it: "dequantize - consumer - quantize" stays in one piece. Stubs,
/// getitems and tuples that nobody reads are not left behind. Returns the stubs that stay, in the
/// order of the leaves. Errors: the node has not one output of ValueKind::Tuple with a known
/// structure (graph/operators/tuple_ops.h).
Result<std::vector<NodeId>> insertLeafDequants(GraphEdit& edit, NodeId customModule);

/// The stub a value comes from, directly or through the tuples built of stubs and the getitems
/// reading them; none where the value is not a custom module's. Such a value is quantized already:
/// its reader needs no observer of its own for it.
NodeId dequantStubOf(const GraphEdit& edit, ValueRef value);

/// Conversion: every stub becomes `aten.dequantize.self`. Returns how many.
int convertDequantStubs(GraphEdit& edit);

} // namespace qs
