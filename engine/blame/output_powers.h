// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph.h"

#include <ATen/core/Tensor.h>

#include <vector>

namespace qs {

/// Noise over signal of the outputs of a model, both powers, summed over batches: the mean over its
/// floating outputs. One thread at a time.
class OutputPowers
{
public:
    /// `outputs`: flat and in order; those that are no floats, or all zero, are left out for good.
    void addSignal(const std::vector<at::Tensor>& outputs);
    /// Of the same batch.
    void addNoise(const std::vector<at::Tensor>& outputs, const std::vector<at::Tensor>& noisy);
    bool isMeasured(std::size_t output) const { return m_signal.at(output) > 0; }
    std::size_t measured() const;
    double signal(std::size_t output) const { return m_signal.at(output); }
    /// Mean over the measured outputs; infinite where noise is not finite.
    double share() const;

private:
    std::vector<double> m_signal, m_noise;
};

} // namespace qs
