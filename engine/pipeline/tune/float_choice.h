// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/blame/blame.h"
#include "engine/plan/plan.h"

#include <unordered_map>
#include <vector>

namespace qs {

/// Which operators to keep float so that the predicted noise stays within a bound.
struct FloatChoice
{
    /// Operators that go together, because a value that all of them read is quantized for all.
    std::vector<std::vector<NodeId>> groups;
    double noise = 0; ///< predicted sum of the shares that stay
    double floatMacs = 0; ///< share of all multiplications
    bool isBounded = false; ///< the bound of float multiplications came before that of noise
};

/// Operators that have to be float together for a value's noise to go.
struct FloatGroup
{
    std::vector<NodeId> operators;
    double share = 0; ///< of the noise, that goes if they alone are made float
    double macs = 0; ///< share of all multiplications
};

/// A knapsack: greedily the group of operators with the greatest predicted share for its cost,
/// until what stays is at most `noise`, or one more would make more than `mostFloat` of all
/// multiplications float; then single groups are exchanged as long as that is better. Operators
/// that cost nothing come first, the greatest share before others. `macs`: of each operator
/// (`macsByOperator`), which are the costs unless `costs` has some, by `groupRoot`.
class FloatKnapsack
{
public:
    FloatKnapsack(const Blame& blame, const Graph& model, const Plan& plan,
                  const std::unordered_map<NodeId, std::int64_t>& macs,
                  const std::unordered_map<NodeId, double>& costs = {});
    FloatChoice choose(double noise, double mostFloat) const;
    /// Groups that cost no multiplication, down to a fiftieth of the noise.
    FloatChoice freeOnes() const;
    /// The groups that `choose(noise, 1)` takes, and `choose(noise, mostFloat)` takes not whole:
    /// the greatest share for its multiplications first. A group within another is not listed.
    std::vector<FloatGroup> barredBy(double noise, double mostFloat) const;
    /// The sum of all shares.
    double noise() const { return noiseWith(std::vector<bool>(m_macs.size())); }

private:
    struct Item
    {
        double share = 0;
        std::vector<NodeId> operators; ///< that have to be float for it to vanish
    };
    /// Sums over operators that are not taken; `of`: by index.
    double sumOf(const std::vector<double>& of, const std::vector<NodeId>& operators,
                 const std::vector<bool>& taken) const;
    bool isGone(const Item& item, const std::vector<bool>& taken) const;
    /// The shares of the items that stay.
    double noiseWith(const std::vector<bool>& taken) const;
    double macsOf(const std::vector<bool>& taken) const { return sumOf(m_macs, taken); }
    static double sumOf(const std::vector<double>& of, const std::vector<bool>& taken);
    /// By index of the operators, whether `choose` takes them.
    std::vector<bool> taken(double noise, double mostFloat) const;
    /// Takes items, the best ratio first; `without`: an item whose operators are not taken.
    void fill(std::vector<bool>& taken, double noise, double mostFloat,
              const Item* without = nullptr) const;
    /// Exchanges single items as long as that leaves less noise, or as little with less float.
    void exchange(std::vector<bool>& taken, double noise, double mostFloat) const;

    std::vector<Item> m_items; ///< of the sites
    std::unordered_map<NodeId, std::size_t> m_indices;
    std::vector<double> m_macs; ///< by index, share of all multiplications
    std::vector<double> m_costs; ///< by index; `m_macs` where nothing else is the cost
};

} // namespace qs
