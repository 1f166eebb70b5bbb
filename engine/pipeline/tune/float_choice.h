// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/blame/diagnosis.h"
#include "engine/plan/plan.h"

#include <unordered_map>
#include <vector>

namespace qs {

/// Which operators to keep float so that the predicted noise stays within a bound.
struct FloatChoice
{
    /// Groups of operators that must become float together, because they read the same quantized
    /// value.
    std::vector<std::vector<NodeId>> groups;
    double noise = 0; ///< predicted sum of the remaining shares
    double floatMacs = 0; ///< share of all multiplications
    bool isBounded = false; ///< the limit of float multiplications was reached first
};

/// Operators that must all be float to remove a value's noise.
struct FloatGroup
{
    std::vector<NodeId> operators;
    double share = 0; ///< share of the noise that is removed if only these become float
    double macs = 0; ///< share of all multiplications
};

/// A knapsack over groups of operators. Greedily takes the group with the greatest predicted share
/// per cost, groups without cost first, until the remaining noise is at most `noise`, or another
/// group would make more than the share `mostFloat` of all multiplications float. Then exchanges
/// single groups while that improves the choice. `macs`: multiplications of each operator
/// (`macsByOperator`); they are the costs unless `costs`, by `groupRoot`, has entries.
class FloatKnapsack
{
public:
    FloatKnapsack(const Blame& blame, const Graph& model, const Plan& plan,
                  const std::unordered_map<NodeId, std::int64_t>& macs,
                  const std::unordered_map<NodeId, double>& costs = {});
    FloatChoice choose(double noise, double mostFloat) const;
    /// The groups that cost no multiplication, until a fiftieth of the noise remains.
    FloatChoice freeOnes() const;
    /// The groups that `choose(noise, 1)` takes, but `choose(noise, mostFloat)` does not take
    /// completely, ordered by share per multiplication, greatest first. Omits groups that are part
    /// of another listed group.
    std::vector<FloatGroup> barredBy(double noise, double mostFloat) const;
    /// Points of the greedy choice without a bound, from no float operator on, for a model with the
    /// share `int8Macs` of its multiplications in int8. Ends at `kMostFrontDb`, or where only noise
    /// remains that no float operator removes.
    std::vector<PredictedPoint> front(double int8Macs) const;
    /// The sum of all shares.
    double noise() const { return noiseWith(std::vector<bool>(m_macs.size())); }

private:
    struct Item
    {
        double share = 0;
        std::vector<NodeId> operators; ///< must all be float to remove it
    };
    /// Sum of the figures `of` (by index) over those of `operators` that are not taken.
    double sumOf(const std::vector<double>& of, const std::vector<NodeId>& operators,
                 const std::vector<bool>& taken) const;
    bool isGone(const Item& item, const std::vector<bool>& taken) const;
    /// Sum of the shares of the items that remain.
    double noiseWith(const std::vector<bool>& taken) const;
    double macsOf(const std::vector<bool>& taken) const { return sumOf(m_macs, taken); }
    static double sumOf(const std::vector<double>& of, const std::vector<bool>& taken);
    /// For each operator, by index, whether `choose` takes it.
    std::vector<bool> taken(double noise, double mostFloat) const;
    /// Takes items, best ratio first; does not take the operators of `without`.
    void fill(std::vector<bool>& taken, double noise, double mostFloat,
              const Item* without = nullptr) const;
    /// Exchanges single items while that leaves less noise, or equal noise with less cost.
    void exchange(std::vector<bool>& taken, double noise, double mostFloat) const;

    std::vector<Item> m_items; ///< of the sites
    std::unordered_map<NodeId, std::size_t> m_indices;
    std::vector<double> m_macs; ///< by index, share of all multiplications
    std::vector<double> m_costs; ///< by index; equals `m_macs` without other costs
};

/// SQNR in dB at which a predicted front ends.
inline constexpr double kMostFrontDb = 60;
/// The front of `FloatKnapsack` by multiplications. `model` and `plan`: those of the blame.
std::vector<PredictedPoint> predictedFront(const Blame& blame, const Graph& model,
                                           const Plan& plan);

} // namespace qs
