// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/calibrate/observations.h"
#include "engine/convert/ranges/choose_qparams.h"

namespace qs {

/// The part of a histogram's range that loses least when quantized to `dtype`. As torch.ao's
/// `HistogramObserver._non_linear_param_search`, trims the ends step by step while the estimated
/// squared error falls; bitwise equal to it for the same counts.
ValueRange searchHistogramRange(const Histogram& histogram, DType dtype);

/// Sum of a contiguous float32 array in the order LibTorch adds it (eight lanes, four rows,
/// cascaded in float32). For histograms, whose sums decide comparisons.
float torchSum(const float* data, std::size_t count);

} // namespace qs
