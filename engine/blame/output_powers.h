// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph.h"

#include <ATen/core/Tensor.h>

#include <vector>

namespace qs {

/// Noise power over signal power of a model's outputs, summed over batches: the mean over the
/// floating-point outputs, weighted if weights are given. One thread at a time.
class OutputPowers
{
public:
    OutputPowers() = default;
    /// `weights`: by output; empty = equal.
    explicit OutputPowers(std::vector<double> weights)
        : m_weights(std::move(weights))
    {
    }
    /// Adds the signal of a batch. `outputs`: flat and in order. Outputs that are not
    /// floating-point, or all zero, are excluded permanently.
    void addSignal(const std::vector<at::Tensor>& outputs);
    /// Adds the noise of the batch passed to the last `addSignal`.
    void addNoise(const std::vector<at::Tensor>& outputs, const std::vector<at::Tensor>& noisy);
    bool isMeasured(std::size_t output) const { return m_signal.at(output) > 0; }
    double signal(std::size_t output) const { return m_signal.at(output); }
    /// Weight of the output in the mean; weights add up to 1 over the measured outputs.
    double weight(std::size_t output) const;
    /// Mean over the measured outputs; infinite if noise is not finite.
    double share() const;

private:
    double weightOf(std::size_t output) const;

    std::vector<double> m_weights, m_signal, m_noise;
};

} // namespace qs
