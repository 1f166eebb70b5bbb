// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/session/facts.h"

namespace qs {

/// The nodes of a comparison from the worst to the best by what is born at them, the one order that
/// "worst" means everywhere in the window: a fusion once, by its last node, quantized or kept float
/// as a whole. Without those that the model does not have or where nothing was measured. Nodes of
/// equal loss stay in graph order. The facts must be of a model.
std::vector<NodeId> worstFirst(const Comparison& comparison, const Facts& facts);

} // namespace qs
