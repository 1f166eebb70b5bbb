// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/configure/qconfig.h"

#include <string>

namespace qs {

/// The ends of the range that fixed parameters keep: "−0.37…2.26".
std::string fixedRangeText(const ObserverSpec& spec);
/// Differences of a qconfig from another, as a part of a sentence: "activations minmax, integers
/// 0…127; weights per tensor symmetric". Empty exactly for equal qconfigs.
std::string qconfigWords(const QConfig& qconfig, const QConfig& base);
/// The two differ in the activations' range alone, which the first fixes by hand.
bool fixesRangeAlone(const QConfig& qconfig, const QConfig& base);

} // namespace qs
