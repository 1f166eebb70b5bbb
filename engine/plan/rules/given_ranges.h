// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/given_observations.h"
#include "engine/plan/plan.h"

#include <vector>

namespace qs {

/// The observation of a fake quantizer of the model's file for the observer's value. Null without
/// one, if a rule for that node or edge decides (unless the model was trained for these integers),
/// or if the observer chooses no range of an 8-bit type (fixed parameters, dynamic, float).
const GivenObservation* givenFor(const Graph& model, const PlannedObserver& observer);

/// An observer spec with a range that the file gives.
struct GivenRange
{
    ObserverSpec spec; ///< of the planned dtype, with the fake quantizer's scheme and integers
    std::vector<float> min, max; ///< one entry, or one for each channel
};
/// The given range with the same scale and integers in the planned dtype: integers are shifted by
/// 128 if only one of the two types is signed.
GivenRange givenRange(const GivenObservation& given, const ObserverSpec& planned);

/// Sets the spec of `givenRange` for every observer with a given range. Values of one observer with
/// different given ranges get separate observers. Adds a finding for each range that is not used.
void takeGivenSpecs(const Graph& model, Plan& plan);

/// Number of the file's fake quantizers with a range (`found`), and of those the plan uses
/// (`used`).
struct GivenCount
{
    int used = 0, found = 0;
};
GivenCount countGiven(const Graph& model, const Plan& plan);

} // namespace qs
