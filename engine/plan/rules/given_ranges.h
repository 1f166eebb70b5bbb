// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/given_observations.h"
#include "engine/plan/plan.h"

#include <vector>

namespace qs {

/// The observation of a fake quantizer of the model's file for the observer's value. Null without
/// one, if a rule for that node or edge decides, or if the observer chooses no range of an 8-bit
/// type (fixed parameters, dynamic, float).
const GivenObservation* givenFor(const Graph& model, const PlannedObserver& observer);

/// An observer with a range that is given to it.
struct GivenRange
{
    ObserverSpec spec; ///< of the planned dtype, with the fake quantizer's scheme and integers
    std::vector<float> min, max; ///< one entry, or one for each channel
};
/// The same scale and the same integers in the planned dtype: signed ones are shifted by 128 where
/// it is unsigned, and the other way round.
GivenRange givenRange(const GivenObservation& given, const ObserverSpec& planned);

/// Every observer with a given range gets the spec of `givenRange`. Values of one observer to which
/// different ranges are given get separate observers. Adds a finding where a range is not used.
void takeGivenSpecs(const Graph& model, Plan& plan);

/// How many of the file's fake quantizers the plan uses, and of how many with a range.
struct GivenCount
{
    int used = 0, found = 0;
};
GivenCount countGiven(const Graph& model, const Plan& plan);

} // namespace qs
