// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/blame/blame.h"
#include "engine/blame/causes/cause.h"
#include "engine/plan/plan.h"

#include <cmath>
#include <memory>
#include <string>
#include <vector>

namespace qs {

/// A share of all noise of the outputs, in [0, 1], with its standard error.
struct NoisePart
{
    double part = 0;
    double standardError = 0; ///< 0 if the part was measured exactly

    /// Adds parts; adds standard errors in squares, as of independent estimates.
    NoisePart& operator+=(const NoisePart& other)
    {
        part += other.part;
        standardError = std::hypot(standardError, other.standardError);
        return *this;
    }
};

/// Noise that a unit (a fusion, or a single operator) causes in the outputs: by its values, its
/// weights and its interior together.
struct UnitNoise
{
    NodeId node; ///< of the float model: the last of the fusion, which carries its errors too
    NoisePart noise;
};

/// A blame with its causes and their inputs. A value; share as DiagnosisPtr.
struct Diagnosis
{
    BlamePtr blame;
    std::vector<Cause> causes; ///< the greatest share first
    std::vector<UnitNoise> units; ///< the greatest first
    BlameOptions options;
    bool eightBitsHold = false; ///< `DiagnosisParts::eightBitsHold`
    std::string data; ///< as the run named its data

    /// The node of the site that the cause is about.
    NodeId nodeOf(const Cause& cause) const { return blame->sites.at(cause.site).site.node; }
};
using DiagnosisPtr = std::shared_ptr<const Diagnosis>;

/// Sum of `SiteBlame::expected` over all sites.
double expectedNoise(const Blame& blame);
/// The part of one site in `all` (= `expectedNoise`); zero without noise.
NoisePart noisePart(const SiteBlame& site, double all);
/// The parts of all units, the greatest first, equal ones in graph order. `model` and `plan`:
/// those of the blame.
std::vector<UnitNoise> noiseByUnit(const Blame& blame, const Graph& model, const Plan& plan);

} // namespace qs
