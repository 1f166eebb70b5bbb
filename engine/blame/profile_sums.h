// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/blame/blame.h"

#include <ATen/core/Tensor.h>

namespace qs {

/// Gathers the profile of one site, batch after batch.
class ProfileSums
{
public:
    /// Adds float values and the same with noise, of equal shape. `axis`: of the channels, -1 = no
    /// channels.
    void add(const at::Tensor& value, const at::Tensor& noisy, int axis, std::int64_t samples);
    ValueProfile result() const;

private:
    /// Extremes by channel of one batch; keeps those of its samples, where it has them.
    std::pair<std::vector<double>, std::vector<double>> addExtremes(const at::Tensor& value,
                                                                    int axis, std::int64_t samples);
    void addPositions(const at::Tensor& magnitudes, int axis, std::int64_t samples);

    std::vector<double> m_low, m_high, m_wide, m_error, m_power, m_positions, m_samples;
    bool m_hasPositions = true, m_hasSamples = true;
    std::int64_t m_count = 0; ///< values per channel
    std::int64_t m_batches = 0;
};

} // namespace qs
