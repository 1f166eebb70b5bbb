// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/calibrate/observations.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace qs {

/// The ranges of one observer: after 1, 2, 4, 8 ... batches and after the last one. A range that
/// takes a search is recorded from the fourth batch on; ranges before the first value are missing.
struct RangeHistory
{
    ObserverId id;
    std::string name; ///< the float node whose value it observes
    std::vector<RangeAfter> ranges; ///< by ascending number of batches
    friend bool operator==(const RangeHistory&, const RangeHistory&) = default;
};

/// How the ranges of a calibration developed. Contains the observers that choose an activation's
/// range from the data. A value; share as ConvergencePtr.
struct Convergence
{
    std::int64_t batches = 0; ///< of the newest ranges
    std::vector<RangeHistory> observers; ///< by ascending id
    const RangeHistory* tryGet(ObserverId id) const;
    friend bool operator==(const Convergence&, const Convergence&) = default;
};
using ConvergencePtr = std::shared_ptr<const Convergence>;

/// Returns the name of the float node whose value the observer observes; of a custom module for a
/// value inside it.
std::string observedName(const Graph& model, const PlannedObserver& observer);
/// Returns the recorded ranges of a calibration (`ObserverStats::ranges`) of that plan.
Convergence convergenceOf(const Observations& observations, const Graph& model, const Plan& plan);

/// A range that changed by less than this is settled.
inline constexpr double kSmallChange = 0.01;
/// A range that changed by this or more means that the data are not sufficient.
inline constexpr double kLargeChange = 0.1;
/// Least share of settled ranges for which more data will change little.
inline constexpr double kSettledShare = 0.95;
/// Fewer batches give no hint.
inline constexpr std::int64_t kLeastBatches = 8;

/// True for the batch counts at which ranges are recorded: 1, 2, 4, 8 ...
constexpr bool isRecordedCount(std::int64_t batches)
{
    return batches > 0 && (batches & (batches - 1)) == 0;
}
/// Returns the greatest recorded count up to half of `batches`; 0 if `batches` is below 2.
std::int64_t comparedCount(std::int64_t batches);

/// Returns the change of the newest range since `comparedCount` of its batches: the larger shift of
/// an end, as a share of the newest range's width. Both ranges include zero, as quantization does.
/// nullopt without a range at that count.
std::optional<double> rangeChange(const RangeHistory& history);

/// A summary of the changes, and whether more data are worth their time.
struct ConvergenceHint
{
    std::int64_t batches = 0, since = 0; ///< compares the ranges at these two counts
    std::size_t ranges = 0; ///< number of ranges with a change
    std::size_t settled = 0; ///< number of those below `kSmallChange`
    bool isSettled = false; ///< more data will change little
    struct Moving
    {
        std::string name;
        double change = 0;
    };
    std::vector<Moving> worst; ///< up to three others, greatest change first, each name once
};

/// Returns the hint. More data will change little if at least `kSettledShare` of the ranges are
/// settled and none changed by `kLargeChange`. nullopt below `kLeastBatches` or without a change.
std::optional<ConvergenceHint> convergenceHint(const Convergence& convergence);

/// Returns the hint as one line without a full stop, names in quotes.
std::string hintText(const ConvergenceHint& hint);

} // namespace qs
