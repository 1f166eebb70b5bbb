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

/// A fraction of the outputs' total noise, in [0, 1], with its standard error.
struct NoisePart
{
    double part = 0;
    double standardError = 0; ///< 0 if the part was measured exactly

    /// Adds parts; adds the squares of standard errors, as for independent estimates.
    NoisePart& operator+=(const NoisePart& other)
    {
        part += other.part;
        standardError = std::hypot(standardError, other.standardError);
        return *this;
    }
};

/// Noise that a unit (a fusion, or a single operator) causes in the outputs by its values, weights
/// and interior.
struct UnitNoise
{
    /// Node of the float model: the last of the fusion, to which its errors are assigned.
    NodeId node;
    NoisePart noise;
};

/// A point that keeping operators float is predicted to reach.
struct PredictedPoint
{
    double int8Macs = 1; ///< share of the multiplications
    double db = 0; ///< SQNR of the outputs, all alike
    friend bool operator==(const PredictedPoint&, const PredictedPoint&) = default;
};

/// A blame with its causes and their inputs. A value type; share as DiagnosisPtr.
struct Diagnosis
{
    BlamePtr blame;
    std::vector<Cause> causes; ///< greatest share first
    std::vector<UnitNoise> units; ///< greatest first
    /// What more and more float operators are predicted to give, from none on (`predictedFront`).
    std::vector<PredictedPoint> front;
    BlameOptions options;
    bool eightBitsHold = false; ///< `DiagnosisParts::eightBitsHold`
    std::string data; ///< name of the run's data

    /// Returns the node of the cause's site.
    NodeId nodeOf(const Cause& cause) const { return blame->sites.at(cause.site).site.node; }
};
using DiagnosisPtr = std::shared_ptr<const Diagnosis>;

/// Returns the sum of `SiteBlame::expected` over all sites.
double expectedNoise(const Blame& blame);
/// Returns the part of one site in `all` (= `expectedNoise`); zero without noise.
NoisePart noisePart(const SiteBlame& site, double all);
/// Returns the parts of all units, greatest first, equal ones in graph order. `model` and `plan`:
/// those of the blame.
std::vector<UnitNoise> noiseByUnit(const Blame& blame, const Graph& model, const Plan& plan);

} // namespace qs
