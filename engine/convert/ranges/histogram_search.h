// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/calibrate/observations.h"
#include "engine/convert/ranges/choose_qparams.h"

namespace qs {

/// Returns the part of a histogram's range with the least quantization error for `dtype`. Like
/// torch.ao's `HistogramObserver._non_linear_param_search`, trims the ends stepwise while the
/// estimated squared error decreases; bitwise equal to it for equal counts.
ValueRange searchHistogramRange(const Histogram& histogram, DType dtype);

/// Returns the sum of a contiguous float32 array in LibTorch's order of summation (eight lanes,
/// four rows, cascaded in float32). For histograms, whose sums decide comparisons.
float torchSum(const float* data, std::size_t count);

} // namespace qs
