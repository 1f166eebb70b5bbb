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

/// Amount of data and number of sites that a blame measures.
struct BlameOptions
{
    std::int64_t samples = 64; ///< maximum; whole batches, at least one
    /// Minimum of samples times probes: with fewer samples, each gets several probes.
    std::int64_t rows = 64;
    std::uint64_t seed = 0; ///< seed of the probes
    std::size_t bytes = 0; ///< memory limit for values kept in one pass; 0 = none
    /// Weight of each of the model's outputs, flat and in order; empty = equal weights. Shares are
    /// weighted means.
    std::vector<double> weights {};
    /// Number of sites, greatest share first, that are also measured with only that site quantized.
    /// Default: 0 if the shares add up (`Blame::isAdditive`), else 16 and all sites without a
    /// derivative.
    std::optional<std::int64_t> exact {};
    friend bool operator==(const BlameOptions&, const BlameOptions&) = default;
};

/// Kind of the consumers of a quantized value, looking through operators that only move values.
enum class ReaderClass : std::uint8_t
{
    Multiplies, ///< operand of a convolution, linear, product, attention or recurrence
    Other, ///< any other operator
    Output ///< only an output of the model
};
inline constexpr std::array kReaderClasses {ReaderClass::Multiplies, ReaderClass::Other,
                                            ReaderClass::Output};
std::string_view readerClassName(ReaderClass readers); ///< "multiplies", "other", "output"

/// One source of output noise: a value that the reference form quantizes, for one class of its
/// consumers; a quantized weight; or all quantization inside a module.
struct BlameSite
{
    enum class Kind : std::uint8_t
    {
        Value,
        Weight,
        Interior
    };
    Kind kind = Kind::Value;
    ReaderClass readers = ReaderClass::Multiplies; ///< class of a value's consumers
    ObserverId observer; ///< the plan's observer; invalid for an interior
    /// Node of the float model: the operator that produces the value, the owner of the weight or
    /// interior, or an input of the model.
    NodeId node;
    ValueRef value; ///< of the float model: the value, or a weight's stored tensor if it has one
    /// Operators of the float model that read the value or weight at this site, in graph order.
    std::vector<NodeId> at;
};
std::string_view siteKindName(BlameSite::Kind kind); ///< "value", "weight", "interior"

/// Statistics of a site's values and noise over some samples of a blame. For a weight: of its
/// operator's results.
struct ValueProfile
{
    std::vector<double> channelMax; ///< largest magnitude; empty without channels
    std::vector<double> channelLow, channelHigh; ///< minimum and maximum over all samples
    /// Share of the batches in which the channel is an outlier: at least `kWideRange` times the
    /// median channel.
    std::vector<double> channelWide;
    std::vector<double> meanSquare; ///< of the value, by channel
    std::vector<double> meanError; ///< mean of the noise, by channel
    std::vector<double> errorPower; ///< mean square of the noise, by channel
    /// Largest magnitude by position in all dimensions except samples and channels; empty
    /// without positions, with too many, or if their number changes.
    std::vector<double> positionMax;
    /// Largest magnitude by sample, in the order of the data; empty if the value has no sample
    /// dimension.
    std::vector<double> sampleMax;
};

/// Gradients of the outputs with respect to the value, in equal bins over [-reach, reach].
struct ValueSlopes
{
    double reach = 0; ///< a power of two; 0 if no value was seen
    std::vector<double> counts; ///< values in each bin
    std::vector<double> squares; ///< sum of squared gradients in each bin
};

/// Effect of a value's noise with another quantization.
struct TriedRange
{
    double share = 0; ///< as `SiteBlame::expected`
    std::optional<double> ownDb; ///< SQNR of the value; nullopt if it has no noise
};

/// Effect of one site on the outputs. Shares are noise power over signal power, the mean over the
/// measured outputs: -10 log10(share) is the SQNR with only this site quantized.
struct SiteBlame
{
    BlameSite site;
    double share = 0; ///< predicted by one backward pass (Hutchinson 1990)
    double standardError = 0; ///< of the share, over samples and probes
    /// The share for noise without structure: |noise|^2 times the mean squared gradient
    /// (Sripad and Snyder 1977; FIT, Zandonati 2023).
    double white = 0;
    std::optional<double> exact; ///< measured with only this site quantized
    std::optional<double> ownDb; ///< SQNR of the site's value; nullopt if it has no noise
    std::shared_ptr<const ValueProfile> profile {}; ///< null if no value was seen
    /// Only for a value with large noise (`SiteSums`), from the first such batch on; else null.
    std::shared_ptr<const ValueSlopes> slopes {};
    bool blocked = false; ///< no derivative reaches an output: only `exact` is valid
    std::vector<TriedRange> tried {}; ///< of the requested ranges, in their order
    /// Best estimate, for ranking and sums: `exact`, else `share` corrected by the ratio of exact
    /// to predicted shares of measured sites.
    double expected = 0;
};

/// The sites that cause the noise of the model's outputs. A value type; share as BlamePtr.
struct Blame
{
    std::vector<SiteBlame> sites; ///< greatest share first
    double predicted = 0; ///< sum of the shares
    double measured = 0; ///< noise over signal of the reference form, on the same samples
    std::int64_t samples = 0;
    int probes = 0; ///< backward passes per sample
    std::vector<std::string> outputs; ///< names of the measured outputs
    std::vector<std::string>
        leftOut; ///< one line for each unmeasured output or site, with the reason

    /// Sum of the shares divided by the measured noise; 1 for a linear model. nullopt without
    /// noise.
    std::optional<double> additivity() const;
    /// True if shares are reliable: `additivity` is between 0.5 and 2.
    bool isAdditive() const;
};
using BlamePtr = std::shared_ptr<const Blame>;

/// -10 log10 of a share, capped at +-200 dB.
double shareDb(double share);
/// Inverse of `shareDb`: the share for this SQNR in dB.
double shareOfDb(double db);

} // namespace qs
