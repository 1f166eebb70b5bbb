// SPDX-License-Identifier: Apache-2.0
#include "engine/convert/ranges/histogram_search.h"

#include "engine/kernels/host_device.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace qs {

namespace {

constexpr std::size_t kLanes = 8; // one AVX2 vector of float32
constexpr std::size_t kRows = 4;
constexpr std::size_t kLevels = 4;
constexpr std::size_t kWidth = kLanes * kRows;
using Row = std::array<float, kWidth>;

void addTo(Row& into, const Row& other)
{
    for (std::size_t i = 0; i < kWidth; ++i)
        into[i] += other[i];
}

// Adds `steps` rows of kWidth floats, in a cascade of kLevels partial sums so that the rounding
// error grows with the logarithm only.
Row cascade(const float* data, std::size_t steps)
{
    std::size_t log2 = 0;
    while ((std::size_t(1) << log2) < steps)
        ++log2;
    const std::size_t power = std::max<std::size_t>(4, log2 / kLevels);
    const std::size_t step = std::size_t(1) << power;
    std::array<Row, kLevels> level {};
    const auto addRow = [&](std::size_t at) {
        for (std::size_t i = 0; i < kWidth; ++i)
            level[0][i] += data[at * kWidth + i];
    };
    std::size_t at = 0;
    while (at + step <= steps) {
        for (std::size_t j = 0; j < step; ++j)
            addRow(at++);
        for (std::size_t j = 1; j < kLevels; ++j) {
            addTo(level[j], level[j - 1]);
            level[j - 1] = {};
            if ((at & ((step - 1) << (j * power))) != 0)
                break;
        }
    }
    for (; at < steps; ++at)
        addRow(at);
    for (std::size_t j = 1; j < kLevels; ++j)
        addTo(level[0], level[j]);
    return level[0];
}

// Everything about the histogram that does not change during the search.
struct Search
{
    const std::vector<float>& counts;
    std::vector<float> density;
    std::vector<float> norm;
    double binWidth = 0; // double as in torch.ao, where it is a Python number
    double dstBins = 256;
};

struct Step
{
    float binWidth = 0;
    float dstWidth = 0;
    float half = 0; // half a destination bin
    float middle = 0; // contribution of a completely covered destination bin
    float lastDst = 255;
    std::int32_t start = 0;
};

inline float cubeDifference(float begin, float end)
{
    return (end * end * end - begin * begin * begin) / 3.0f;
}

// floor(x / width), kept within the destination bins. In double, the quotient of two floats is on
// the correct side of every integer in that range.
inline float destinationBin(float x, const Step& step)
{
    const double quotient = double(x) / double(step.dstWidth);
    const double kept = quotient < 0 ? 0.0
        : quotient > step.lastDst    ? double(step.lastDst)
                                     : quotient;
    return float(std::floor(kept));
}

QS_VECTOR_CLONES void binNorms(const float* density, std::int32_t bins, Step step, float* norm)
{
    for (std::int32_t bin = 0; bin < bins; ++bin) {
        const float begin = float(bin - step.start) * step.binWidth;
        const float end = begin + step.binWidth;
        const float beginDst = destinationBin(begin, step);
        const float endDst = destinationBin(end, step);
        const float beginCentre = (beginDst + 0.5f) * step.dstWidth;
        const float endCentre = endDst * step.dstWidth + step.half;
        float sum = 0.0f + density[bin] * cubeDifference(begin - beginCentre, step.half);
        sum += (endDst - beginDst - 1.0f) * (density[bin] * step.middle);
        sum += density[bin] * cubeDifference(-step.half, end - endCentre);
        norm[bin] = sum;
    }
}

// Squared error when source bins `first` to `last` are spread over all destination bins.
double quantizationError(Search& search, std::int32_t first, std::int32_t last)
{
    const double dstWidth = search.binWidth * (last - first + 1) / search.dstBins;
    if (dstWidth == 0.0)
        return 0.0;
    Step step;
    step.binWidth = float(search.binWidth);
    step.dstWidth = float(dstWidth);
    step.half = float(dstWidth / 2);
    step.middle = cubeDifference(-step.half, step.half);
    step.lastDst = float(search.dstBins - 1);
    step.start = first;
    binNorms(search.density.data(), std::int32_t(search.counts.size()), step, search.norm.data());
    return torchSum(search.norm.data(), search.norm.size());
}

struct Bins
{
    std::int32_t first = 0;
    std::int32_t last = 0;
};

// Moves the quantiles inwards from both ends in steps of 1e-5, always on the side that removes more
// bins, until the error increases.
Bins trim(Search& search, const std::vector<float>& cumulated, float total)
{
    constexpr double kStep = 1e-5;
    double alpha = 0, beta = 1;
    Bins kept {0, std::int32_t(search.counts.size()) - 1};
    double best = std::numeric_limits<double>::infinity();
    while (alpha < beta) {
        const double nextAlpha = alpha + kStep;
        const double nextBeta = beta - kStep;
        const float low = float(nextAlpha * double(total));
        const float high = float(nextBeta * double(total));
        std::int32_t left = kept.first;
        std::int32_t right = kept.last;
        while (left < kept.last && cumulated[std::size_t(left)] < low)
            ++left;
        while (right > kept.first && cumulated[std::size_t(right)] > high)
            --right;
        Bins next = kept;
        if (left - kept.first > kept.last - right) {
            next.first = left;
            alpha = nextAlpha;
        } else {
            next.last = right;
            beta = nextBeta;
        }
        if (next.first == kept.first && next.last == kept.last)
            continue;
        const double error = quantizationError(search, next.first, next.last);
        if (error > best)
            break;
        best = error;
        kept = next;
    }
    return kept;
}

double destinationBins(DType dtype)
{
    return std::ldexp(1.0, 8 * dtypeSize(dtype));
}

} // namespace

float torchSum(const float* data, std::size_t count)
{
    if (count < kLanes) { // too short for vectors: the four rows have single numbers
        std::array<float, kRows> row {};
        for (std::size_t i = 0; i < count; ++i)
            row[i < kRows && count >= kRows ? i : 0] += data[i];
        return row[0] + row[1] + row[2] + row[3];
    }
    const std::size_t vectors = count / kLanes;
    const std::size_t rows = vectors / kRows;
    Row sums = cascade(data, rows);
    for (std::size_t v = rows * kRows; v < vectors; ++v)
        for (std::size_t i = 0; i < kLanes; ++i)
            sums[i] += data[v * kLanes + i];
    for (std::size_t row = 1; row < kRows; ++row)
        for (std::size_t i = 0; i < kLanes; ++i)
            sums[i] += sums[row * kLanes + i];
    float total = 0;
    for (std::size_t i = vectors * kLanes; i < count; ++i)
        total += data[i];
    for (std::size_t i = 0; i < kLanes; ++i)
        total += sums[i];
    return total;
}

ValueRange searchHistogramRange(const Histogram& histogram, DType dtype)
{
    const auto bins = histogram.counts.size();
    Search search {histogram.counts, std::vector<float>(bins), std::vector<float>(bins), 0, 0};
    search.binWidth = (double(histogram.max) - double(histogram.min)) / double(bins);
    search.dstBins = destinationBins(dtype);
    std::vector<float> cumulated(bins);
    double running = 0; // cumsum keeps its running sum in double
    for (std::size_t i = 0; i < bins; ++i) {
        running += histogram.counts[i];
        cumulated[i] = float(running);
        search.density[i] = histogram.counts[i] / float(search.binWidth);
    }
    const Bins kept = trim(search, cumulated, torchSum(histogram.counts.data(), bins));
    const float width = (histogram.max - histogram.min) / float(bins);
    return {histogram.min + width * float(kept.first),
            histogram.min + width * float(kept.last + 1)};
}

} // namespace qs
