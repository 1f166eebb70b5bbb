// SPDX-License-Identifier: Apache-2.0
#include "engine/train/usual_rates.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

namespace qs {

namespace {

constexpr double kLeastRate = 1.0 / 4000, kRateOfNoise = 1.0 / 100;
constexpr double kScaleRate = 1.0 / 50; ///< scales are few, and must travel further
constexpr double kLeastSize = 1e-3; ///< of a tensor that starts from zeros

/// Root of noise / signal before the training, at most 1; 0 if it was not measured.
double noiseBefore(std::span<const TrainingPoint> points)
{
    const bool isKnown = !points.empty() && points[0].step == 0 && points[0].guardDb;
    return isKnown ? std::min(1.0, std::pow(10, -*points[0].guardDb / 20)) : 0;
}

} // namespace

std::vector<double> usualRates(const TrainingState& state, std::span<const TrainingPoint> points)
{
    const double rate = std::max(kLeastRate, kRateOfNoise * noiseBefore(points));
    std::vector<double> rates;
    for (const at::Tensor& tensor : state.learned()) {
        const double size = tensor.detach().square().mean().sqrt().item<double>();
        const bool isScale = rates.size() >= state.trainedTensors();
        rates.push_back(isScale ? kScaleRate * size : rate * std::max(size, kLeastSize));
    }
    return rates;
}

} // namespace qs
