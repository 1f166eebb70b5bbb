// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph_edit.h"

namespace qs {

/// Lets every reader of a tuple's element read the element itself: `getitem(tuple([a, b]), 1)`
/// becomes `b`, through tuples of any depth and as often as it is read. Tuples and getitems that
/// nobody reads any more are removed; a tuple that something reads whole (a module, the output)
/// stays. Returns whether anything changed. Two
/// chains of getitems that read the same leaf both end at that leaf, where torch.ao's pass, which
/// keeps one traversal state for all chains, leaves the second at the enclosing tuple.
bool rerouteTuples(GraphEdit& edit);

} // namespace qs
