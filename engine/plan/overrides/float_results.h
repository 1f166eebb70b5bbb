// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/plan/decide.h"

namespace qs {

/// Whether operators matched as one, in forward order, may hand their result on as float although
/// they are quantized: a linear or a convolution that is not transposed, with the batch norm and
/// the relu that are fused into it.
bool mayGiveFloat(const Graph& graph, const std::vector<NodeId>& members);

/// Decides which statically quantized operators give their result as float: those whose qconfig
/// asks for it, and with `needless` those whose result only float operators and the model's caller
/// read, also through operators that move values. Others whose qconfig asks for it stay float, and
/// so do operators that move a float result. Where a fake quantizer of the file stands at a result,
/// only a qconfig makes it float.
void applyFloatResults(const Graph& graph, const Matches& matches, bool needless,
                       std::vector<Verdicts>& verdicts, std::vector<Decision>& decisions);

} // namespace qs
