// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/blame/blame.h"

#include <ATen/core/Tensor.h>

namespace qs {

/// Accumulates the profile of one site over batches.
class ProfileSums
{
public:
    /// Adds float values and the same values with noise, of equal shape. `axis`: channel dimension,
    /// -1 = none.
    void add(const at::Tensor& value, const at::Tensor& noisy, int axis, std::int64_t samples);
    ValueProfile result() const;

private:
    /// Returns the extremes by channel of one batch; adds those of its samples, if it has a sample
    /// dimension.
    std::pair<std::vector<double>, std::vector<double>> addExtremes(const at::Tensor& value,
                                                                    int axis, std::int64_t samples);
    void addPositions(const at::Tensor& magnitudes, int axis, std::int64_t samples);

    std::vector<double> m_low, m_high, m_wide, m_squares, m_error, m_power, m_positions, m_samples;
    bool m_hasPositions = true, m_hasSamples = true;
    std::int64_t m_count = 0; ///< values per channel
    std::int64_t m_batches = 0;
};

} // namespace qs
