// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/plan/decide.h"

#include <map>

namespace qs {

/// The kind of such findings.
inline constexpr const char* kNotFinite = "not_finite";

/// "'log' (aten.log.default of module 'attention')": a node as findings on values name it.
std::string describedNode(const Node& node);

/// Keeps operators float that make or read one of these nodes' values and would quantize it:
/// calibration saw NaN or Inf there (`PrepareSettings::notFinite`), to which no scale fits. Returns
/// a finding for each value that kept an operator float, in graph order.
std::vector<PlanFinding> applyNotFinite(const Graph& graph, const OpNames& names,
                                        const std::map<std::string, std::string>& seen,
                                        const Matches& matches, std::vector<Verdicts>& verdicts,
                                        std::vector<Decision>& decisions);

} // namespace qs
