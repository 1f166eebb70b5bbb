// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/calibrate/observations.h"

#include <optional>

namespace qs {

/// Returns the initial statistics of a layer's weight observer if the model's file has a range for
/// it; the observer then observes the weight once. nullopt for other observers.
std::optional<ObserverStats> givenStart(const Graph& model, const PlannedObserver& observer);

/// Replaces observed ranges by those of the model's file (`givenFor`), except for observers that
/// started from them. Histograms remain those of the data.
void takeGivenRanges(const Graph& model, const Plan& plan, Observations& seen);

} // namespace qs
