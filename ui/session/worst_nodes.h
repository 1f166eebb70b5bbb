// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/session/facts.h"

namespace qs {

/// The nodes of a comparison by their own ("born here") error, worst first: the order of "worst"
/// everywhere in the window. A fusion, quantized or float, appears once, by its last node. Skips
/// nodes that the model does not have and nodes without a measurement. Nodes of equal error stay in
/// graph order. The facts must be of a model.
std::vector<NodeId> worstFirst(const Comparison& comparison, const Facts& facts);

} // namespace qs
