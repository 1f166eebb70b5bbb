// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph.h"

#include <ATen/core/Tensor.h>

#include <vector>

namespace qs {

/// Noise over signal of the outputs of a model, both powers, summed over batches: the mean over its
/// floating outputs, weighted where weights are given. One thread at a time.
class OutputPowers
{
public:
    OutputPowers() = default;
    /// By output; empty: all alike.
    explicit OutputPowers(std::vector<double> weights)
        : m_weights(std::move(weights))
    {
    }
    /// `outputs`: flat and in order; those that are not floats, or all zero, are left out for good.
    void addSignal(const std::vector<at::Tensor>& outputs);
    /// Of the same batch.
    void addNoise(const std::vector<at::Tensor>& outputs, const std::vector<at::Tensor>& noisy);
    bool isMeasured(std::size_t output) const { return m_signal.at(output) > 0; }
    double signal(std::size_t output) const { return m_signal.at(output); }
    /// What the output counts for in the mean; they add up to 1 over the measured ones.
    double weight(std::size_t output) const;
    /// Mean over the measured outputs; infinite where noise is not finite.
    double share() const;

private:
    double weightOf(std::size_t output) const;

    std::vector<double> m_weights, m_signal, m_noise;
};

} // namespace qs
