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
/// fusion selects the fusion; results are assigned to its last member.
struct InspectionTarget
{
    NodeId node;
    std::optional<std::size_t> output; ///< in the order of `outputNames`; if set, `node` is ignored
    friend bool operator==(const InspectionTarget&, const InspectionTarget&) = default;
};

/// Quantiles of a channel's finite values, interpolated linearly as NumPy does.
struct Quantiles
{
    double p1 = 0, q1 = 0, median = 0, q3 = 0, p99 = 0; ///< of 1, 25, 50, 75 and 99 percent
    double error = 0; ///< greatest error of each; 0: exact
    friend bool operator==(const Quantiles&, const Quantiles&) = default;
};

/// One channel of a value over all samples, or of a weight. Sums over all channels are those of the
/// whole value.
struct ChannelError
{
    std::size_t result = 0; ///< index of the node's result
    std::int64_t channel = 0;
    double signal = 0, noise = 0; ///< sums of squares of y and of y^ - y
    std::int64_t count = 0; ///< elements
    std::optional<double> sqnrDb; ///< as in ErrorMetrics
    double mse = 0, maxAbs = 0;
    double low = 0, high = 0; ///< range of the float value; both 0 if no element is finite
    std::optional<Quantiles> quantiles; ///< of the float value (`ChannelQuantiles`)
    bool isWide = false; ///< outlier by range (`markOutliers`)
    bool isNoisy = false; ///< outlier by share of the noise
    double scale = 0; ///< scale of a weight; 0 if it has none
};

/// Error of one sample over all elements of the node's results.
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
    std::vector<std::int64_t> shape; ///< shape in the first batch
    int channelAxis = -1; ///< `channelAxis`; -1: the whole value is one channel
    std::size_t channels = 0;
};

/// A weight of the node in the reference form, compared with the float weight with batch norms
/// folded.
struct WeightInspection
{
    std::string node; ///< node of the float graph that reads it
    std::string name; ///< name of the stored tensor, or of its folded form
    std::string dtype, scheme; ///< "qint8", "per_channel_symmetric"; empty if not integer
    std::vector<std::int64_t> shape;
    int channelAxis = 0;
    ErrorMetrics error;
    std::vector<ChannelError> channels;
};

/// Result of an inspection over the data. A value type; share as ValueInspectionPtr.
struct ValueInspection
{
    InspectionTarget target;
    std::string name; ///< name of the node with the results, or of the output
    bool quantized = false; ///< the reference form quantizes it
    std::optional<ErrorMetrics> error; ///< y^ - y: the comparison's cumulative error
    std::optional<double> kl; ///< KL divergence, as in the comparison
    std::vector<ResultInspection> results;
    std::vector<ChannelError> channels; ///< by result, then by channel
    /// In the order of the data; empty if the value's rows are not samples.
    std::vector<SampleError> samples;
    std::int64_t sampleCount = 0;
    std::vector<std::int64_t> batchSamples; ///< number of samples in each batch
    std::vector<WeightInspection> weights;
};
using ValueInspectionPtr = std::shared_ptr<const ValueInspection>;

/// Returns indices into `samples`, worst SQNR first; samples without signal last.
std::vector<std::int64_t> worstSamples(const ValueInspection& inspection, std::size_t most);
/// Returns indices into `channels`, in the same order.
std::vector<std::size_t> worstChannels(const std::vector<ChannelError>& channels);

/// One sample's values in both models, or a part of them. A value type.
struct SampleValues
{
    InspectionTarget target;
    std::int64_t sample = 0;
    std::size_t result = 0;
    /// Shape of the sample's whole value, without the batch dimension.
    std::vector<std::int64_t> shape;
    int channelAxis = -1; ///< in `shape`
    /// A plane is one slice of the last two dimensions. This object contains these planes, and
    /// these rows and columns of each.
    std::int64_t firstPlane = 0, planes = 0;
    std::int64_t firstRow = 0, rows = 0, firstColumn = 0, columns = 0;
    std::vector<float> floating, converted; ///< [planes, rows, columns]
    bool ofBatch = false; ///< rows are not samples: values of the whole batch

    std::int64_t allPlanes() const;
    std::int64_t allRows() const { return shape.size() < 2 ? 1 : shape[shape.size() - 2]; }
    std::int64_t allColumns() const { return shape.empty() ? 1 : shape.back(); }
    bool isWhole() const;
};
using SampleValuesPtr = std::shared_ptr<const SampleValues>;

/// The requested part of a sample's value.
struct ValuePart
{
    std::size_t result = 0;
    std::int64_t plane = 0, row = 0, column = 0; ///< the plane and the start of the part
    std::int64_t elements = std::int64_t(1) << 22; ///< maximum number for each model
};

/// A request for one sample's values.
struct SampleWanted
{
    InspectionTarget target;
    std::int64_t sample = 0;
    ValuePart part {};
    /// `ValueInspection::batchSamples` of an earlier inspection of the same data; avoids reading
    /// the batches before.
    std::vector<std::int64_t> batchSamples {};
};

} // namespace qs
