// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/configure/qconfig.h"

#include <string>

namespace qs {

/// Returns the range covered by fixed parameters: "−0.37…2.26".
std::string fixedRangeText(const ObserverSpec& spec);
/// Returns the differences of a qconfig from another, as part of a sentence: "activations minmax,
/// integers 0…127; weights per tensor symmetric". Empty exactly for equal qconfigs.
std::string qconfigWords(const QConfig& qconfig, const QConfig& base);
/// True if the two differ only in the activations' range, which the first fixes manually.
bool fixesRangeAlone(const QConfig& qconfig, const QConfig& base);

} // namespace qs
