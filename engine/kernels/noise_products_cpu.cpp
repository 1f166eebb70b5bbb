// SPDX-License-Identifier: Apache-2.0
#include "engine/kernels/host_device.h"
#include "engine/kernels/noise_products.h"
#include "engine/kernels/parallel.h"

#include <vector>

namespace qs::kernels {

namespace {

constexpr int kNoiseLanes = 16;
/// Elements; blocks do not depend on the number of threads.
constexpr std::int64_t kNoiseBlock = 1 << 14;

struct NoiseLanes
{
    double signal2[kNoiseLanes] = {};
    double noise2[kNoiseLanes] = {};
    double gradient2[kNoiseLanes] = {};
    double product[kNoiseLanes] = {};
};

inline void addNoise(NoiseLanes& acc, int i, const NoiseValues& v, std::int64_t at)
{
    const double value = v.value[at], gradient = v.gradient[at];
    const double noise = double(v.noisy[at]) - value;
    acc.signal2[i] += value * value;
    acc.noise2[i] += noise * noise;
    acc.gradient2[i] += gradient * gradient;
    acc.product[i] += gradient * noise;
}

QS_VECTOR_CLONES void scanNoise(const NoiseValues& v, std::int64_t begin, std::int64_t steps,
                                NoiseLanes& lanes)
{
    NoiseLanes acc = lanes;
    for (std::int64_t step = 0; step < steps; ++step)
        for (int i = 0; i < kNoiseLanes; ++i)
            addNoise(acc, i, v, begin + step * kNoiseLanes + i);
    lanes = acc;
}

NoiseSums noiseSums(const NoiseValues& v, std::int64_t begin, std::int64_t end)
{
    NoiseLanes lanes;
    const std::int64_t steps = (end - begin) / kNoiseLanes;
    scanNoise(v, begin, steps, lanes);
    for (std::int64_t at = begin + steps * kNoiseLanes; at < end; ++at)
        addNoise(lanes, 0, v, at);
    NoiseSums sums;
    for (int i = 0; i < kNoiseLanes; ++i)
        sums += {lanes.signal2[i], lanes.noise2[i], lanes.gradient2[i], lanes.product[i]};
    return sums;
}

} // namespace

void noiseSumsCpu(const NoiseValues& values, std::int64_t rows, std::int64_t length, int threads,
                  NoiseSums* out)
{
    const std::int64_t blocks = (length + kNoiseBlock - 1) / kNoiseBlock; // blocks per row
    std::vector<NoiseSums> found(std::size_t(rows * blocks));
    const int parts = int(std::min<std::int64_t>(partCount(rows * length, threads), rows * blocks));
    forEachPart(rows * blocks, std::max(parts, 1), [&](int, std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) {
            const std::int64_t row = i / blocks, from = i % blocks * kNoiseBlock;
            const std::int64_t to = std::min(length, from + kNoiseBlock);
            found[std::size_t(i)] = noiseSums(values, row * length + from, row * length + to);
        }
    });
    for (std::int64_t row = 0; row < rows; ++row) {
        out[row] = {};
        for (std::int64_t i = row * blocks; i < (row + 1) * blocks; ++i)
            out[row] += found[std::size_t(i)];
    }
}

} // namespace qs::kernels
