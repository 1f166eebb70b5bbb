// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/plan/decide.h"

#include <map>

namespace qs {

/// The kind of the findings of `applyNotFinite`.
inline constexpr const char* kNotFinite = "not_finite";

/// The text for a node in findings on values: "'log' (aten.log.default of module 'attention')".
std::string describedNode(const Node& node);

/// Keeps operators float that make or read a value of one of these nodes and would quantize it: in
/// calibration it was NaN or Inf (`PrepareSettings::notFinite`), for which no scale exists. Returns
/// a finding for each value that kept an operator float, in graph order.
std::vector<PlanFinding> applyNotFinite(const Graph& graph, const OpNames& names,
                                        const std::map<std::string, std::string>& seen,
                                        const Matches& matches, std::vector<Verdicts>& verdicts,
                                        std::vector<Decision>& decisions);

} // namespace qs
