// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/plan/decide.h"

namespace qs {

/// Whether a match of these operators, in forward order, may return a float result although it is
/// quantized: a linear or a convolution that is not transposed, with a fused batch norm and relu.
bool mayGiveFloat(const Graph& graph, const std::vector<NodeId>& members);

/// Decides which statically quantized operators return float results: those whose qconfig requests
/// it, and with `needless` those whose result is read only by float operators and the model's
/// caller, also through operators that move values. Other operators whose qconfig requests it stay
/// float, and so do operators that move a float result. A result with a fake quantizer in the file
/// becomes float only by a qconfig.
void applyFloatResults(const Graph& graph, const Matches& matches, bool needless,
                       std::vector<Verdicts>& verdicts, std::vector<Decision>& decisions);

} // namespace qs
