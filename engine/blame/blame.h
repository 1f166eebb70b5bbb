// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/key.h"
#include "engine/graph/graph.h"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace qs {

/// How much is looked at.
struct BlameOptions
{
    std::int64_t samples = 64; ///< at most; whole batches are taken, one at least
    /// Samples times probes, at least: data with fewer samples are probed several times each.
    std::int64_t rows = 64;
    std::uint64_t seed = 0; ///< of the probes
    std::size_t bytes = 0; ///< of values that one pass keeps; 0 = no limit
    /// Of the model's outputs, flat and in order: how much each counts; empty = all alike. Shares
    /// are then weighted means.
    std::vector<double> weights {};
    /// Sites that are measured too, the greatest first, each alone switched on. Without a number
    /// none where the shares add up (`Blame::isAdditive`), else 16 and those without a derivative.
    std::optional<std::int64_t> exact {};
    friend bool operator==(const BlameOptions&, const BlameOptions&) = default;
};

/// What reads a quantized value, through operators that only move values.
enum class ReaderClass : std::uint8_t
{
    Multiplies, ///< as an operand of a convolution, a linear, a product, attention, a recurrence
    Other, ///< any other operator
    Output ///< only an output of the model
};
inline constexpr std::array kReaderClasses {ReaderClass::Multiplies, ReaderClass::Other,
                                            ReaderClass::Output};
std::string_view readerClassName(ReaderClass readers); ///< "multiplies", "other", "output"

/// One cause of the output's noise: a value that the reference form quantizes, for one class of its
/// readers; a quantized weight; or all that a module quantizes inside.
struct BlameSite
{
    enum class Kind : std::uint8_t
    {
        Value,
        Weight,
        Interior
    };
    Kind kind = Kind::Value;
    ReaderClass readers = ReaderClass::Multiplies; ///< of a value
    ObserverId observer; ///< of the plan; none for an interior
    /// Of the float model: the operator that makes the value, or that the weight or the interior
    /// belongs to; an input of the model.
    NodeId node;
    ValueRef value; ///< of the float model: the value; of a weight the stored tensor, if it is one
    /// Of the float model: the operators that read the value here, or the weight; in graph order.
    std::vector<NodeId> at;
};
std::string_view siteKindName(BlameSite::Kind kind); ///< "value", "weight", "interior"

/// What the values and the noise of a site look like, over some samples of a blame. Of a weight
/// those of the operator's results.
struct ValueProfile
{
    std::vector<double> channelMax; ///< largest magnitude; empty where a value has no channels
    std::vector<double> channelLow, channelHigh; ///< least and greatest, over all samples
    /// Share of the batches in which the channel is an outlier: at least `kWideRange` times the
    /// median channel.
    std::vector<double> channelWide;
    std::vector<double> meanError; ///< by channel, of the noise
    std::vector<double> errorPower; ///< by channel, mean square of the noise
    /// Largest magnitude by place among all dimensions but those of samples and channels; empty
    /// where there are none, where their number changes, or where there are too many.
    std::vector<double> positionMax;
    /// Largest magnitude by sample, in the order of the data; empty where a value has no dimension
    /// of samples.
    std::vector<double> sampleMax;
};

/// How steep the outputs are where a value is how large, by equal bins over [-reach, reach].
struct ValueSlopes
{
    double reach = 0; ///< a power of two; 0 where nothing was seen
    std::vector<double> counts; ///< values in each bin
    std::vector<double> squares; ///< of the gradients there, their sum
};

/// What one site does to the outputs. Shares are noise over signal, both powers, as the mean over
/// the outputs that are measured: -10 log10(share) is the SQNR that the site alone would leave.
struct SiteBlame
{
    BlameSite site;
    double share = 0; ///< predicted by one backward pass (Hutchinson 1990)
    double standardError = 0; ///< of the share, over samples and probes
    /// What the share would be of noise without structure: |noise|^2 times the mean squared
    /// gradient (Sripad and Snyder 1977; FIT, Zandonati 2023).
    double white = 0;
    std::optional<double> exact; ///< measured with this site alone switched on
    std::optional<double> ownDb; ///< SQNR of the site's own value; none where nothing is lost
    std::shared_ptr<const ValueProfile> profile {}; ///< null where nothing was seen
    /// Of a value that loses much (`SiteSums`), from the batch on where it does; else null.
    std::shared_ptr<const ValueSlopes> slopes {};
    bool blocked = false; ///< no derivative leads from it to an output: only `exact` counts
    /// The best that is known, for orders and sums: `exact`, else `share` by what measured sites
    /// showed of theirs.
    double expected = 0;
};

/// Who causes the noise of the model's outputs. A value; share as BlamePtr.
struct Blame
{
    std::vector<SiteBlame> sites; ///< greatest share first
    double predicted = 0; ///< sum of the shares
    double measured = 0; ///< noise over signal of the reference form, on the same samples
    std::int64_t samples = 0;
    int probes = 0; ///< backward passes a sample
    std::vector<std::string> outputs; ///< names of those that are measured
    std::vector<std::string> leftOut; ///< a line for each output, or site, that is not, and why

    /// How far the shares add up to the noise; 1 where all is linear. Nothing without noise.
    std::optional<double> additivity() const;
    /// Whether the shares may be taken for what each site does: `additivity` within 0.5 and 2.
    bool isAdditive() const;
};
using BlamePtr = std::shared_ptr<const Blame>;

/// -10 log10 of a share, capped at +-200 dB.
double shareDb(double share);
/// The share of so many dB.
double shareOfDb(double db);

} // namespace qs
