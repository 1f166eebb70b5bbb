// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/calibrate/observations.h"

#include <optional>

namespace qs {

/// What an observer of a layer's weight starts from where the model's file gives it a range; it
/// then sees the weight once. Nothing for other observers.
std::optional<ObserverStats> givenStart(const Graph& model, const PlannedObserver& observer);

/// Observers to which the model's file gives a range (`givenFor`) take it in place of what they
/// saw, unless they started from it; their histograms stay those of the data.
void takeGivenRanges(const Graph& model, const Plan& plan, Observations& seen);

} // namespace qs
