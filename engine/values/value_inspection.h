// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/compare/comparison.h"
#include "engine/graph/value.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace qs {

/// The subject of an inspection: the results of a node, or one output of the model. A node inside a
/// fusion means the fusion, whose last member carries the numbers.
struct InspectionTarget
{
    NodeId node;
    std::optional<std::size_t> output; ///< in the order of `outputNames`; then `node` says nothing
    friend bool operator==(const InspectionTarget&, const InspectionTarget&) = default;
};

/// One channel of a value over all samples, or of a weight. Sums over channels are those of the
/// whole value.
struct ChannelError
{
    std::size_t result = 0; ///< which of the node's results
    std::int64_t channel = 0;
    double signal = 0, noise = 0; ///< sums of squares: of y, and of y^ - y
    std::int64_t count = 0; ///< elements
    std::optional<double> sqnrDb; ///< as in ErrorMetrics
    double mse = 0, maxAbs = 0;
    double low = 0, high = 0; ///< of the float value; both 0 where no element is finite
    bool isWide = false; ///< an outlier by its range (`markOutliers`)
    bool isNoisy = false; ///< an outlier by its share of the noise
    double scale = 0; ///< of a weight: its step; 0 where it has none
};

/// One sample: its error over all elements of the node's results.
struct SampleError
{
    double signal = 0, noise = 0; ///< sums of squares
    std::optional<double> sqnrDb;
    double maxAbs = 0;
};

/// The layout of a result of the node.
struct ResultInspection
{
    std::string name;
    std::vector<std::int64_t> shape; ///< in the first batch
    int channelAxis = -1; ///< `channelAxis`; -1: the whole value is one channel
    std::size_t channels = 0;
};

/// A weight of the node as the reference form reads it, against the float one with batch norms
/// folded.
struct WeightInspection
{
    std::string node; ///< that reads it, in the float graph
    std::string name; ///< of the stored tensor, or of what it was folded to
    std::string dtype, scheme; ///< "qint8", "per_channel_symmetric"; empty where not integers
    std::vector<std::int64_t> shape;
    int channelAxis = 0;
    ErrorMetrics error;
    std::vector<ChannelError> channels;
};

/// Result of an inspection over the data. A value; share as ValueInspectionPtr.
struct ValueInspection
{
    InspectionTarget target;
    std::string name; ///< of the node that carries the numbers, or of the output
    bool quantized = false; ///< the reference form quantizes it
    std::optional<ErrorMetrics> error; ///< y^ - y: the comparison's cumulative error
    std::optional<double> kl; ///< the comparison's
    std::vector<ResultInspection> results;
    std::vector<ChannelError> channels; ///< by result, then by channel
    /// In the order of the data; empty if the value's rows are not samples.
    std::vector<SampleError> samples;
    std::int64_t sampleCount = 0;
    std::vector<std::int64_t> batchSamples; ///< how many of them each batch has
    std::vector<WeightInspection> weights;
};
using ValueInspectionPtr = std::shared_ptr<const ValueInspection>;

/// Indices into `samples`, the one that loses most first: by dB, those without a signal last.
std::vector<std::int64_t> worstSamples(const ValueInspection& inspection, std::size_t most);
/// Indices into `channels`, likewise.
std::vector<std::size_t> worstChannels(const std::vector<ChannelError>& channels);

/// One sample's values in both models, or a part of them. A value.
struct SampleValues
{
    InspectionTarget target;
    std::int64_t sample = 0;
    std::size_t result = 0;
    std::vector<std::int64_t> shape; ///< of the sample's whole value, without the batch's dimension
    int channelAxis = -1; ///< in `shape`
    /// A plane is the last two dimensions, one for each index of the others. This object has these
    /// planes and, of each, these rows and columns.
    std::int64_t firstPlane = 0, planes = 0;
    std::int64_t firstRow = 0, rows = 0, firstColumn = 0, columns = 0;
    std::vector<float> floating, converted; ///< [planes, rows, columns]
    bool ofBatch = false; ///< rows are not samples: the values of its whole batch

    std::int64_t allPlanes() const;
    std::int64_t allRows() const { return shape.size() < 2 ? 1 : shape[shape.size() - 2]; }
    std::int64_t allColumns() const { return shape.empty() ? 1 : shape.back(); }
    bool isWhole() const;
};
using SampleValuesPtr = std::shared_ptr<const SampleValues>;

/// Which part of a sample's value is wanted.
struct ValuePart
{
    std::size_t result = 0;
    std::int64_t plane = 0, row = 0, column = 0; ///< that the part holds; where it begins
    std::int64_t elements = std::int64_t(1) << 22; ///< at most, of each model
};

/// One sample's values, as they are asked for.
struct SampleWanted
{
    InspectionTarget target;
    std::int64_t sample = 0;
    ValuePart part {};
    /// `ValueInspection::batchSamples` of an earlier inspection of the same data: spares
    /// reading the batches before.
    std::vector<std::int64_t> batchSamples {};
};

} // namespace qs
