// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/calibrate/observations.h"

#include <optional>

namespace qs {

/// The initial statistics of a layer's weight observer if the model's file gives it a range; it
/// then sees the weight once. Nothing for other observers.
std::optional<ObserverStats> givenStart(const Graph& model, const PlannedObserver& observer);

/// Observers to which the model's file gives a range (`givenFor`) take it instead of the observed
/// one, unless they started from it; their histograms stay those of the data.
void takeGivenRanges(const Graph& model, const Plan& plan, Observations& seen);

} // namespace qs
