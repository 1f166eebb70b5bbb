// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/train/training.h"

#include <ATen/core/Tensor.h>

#include <span>
#include <vector>

namespace qs {

/// Updates tensors in place by their gradients, with PyTorch's fused kernels. One thread at a time.
/// Functions may throw LibTorch's exceptions.
class Optimizer
{
public:
    /// `rates`: a learning rate for each tensor. `momentum`: of SGD.
    Optimizer(OptimizerKind kind, std::vector<double> rates, double momentum);

    /// One step; rates are multiplied by `factor`. Tensors without a gradient do not change.
    void step(std::span<const at::Tensor> tensors, std::span<const at::Tensor> gradients,
              double factor);

    /// What the steps accumulate, to resume.
    std::vector<at::Tensor> state() const;
    /// Continues from another optimizer's `state` over the same tensors.
    void setState(std::vector<at::Tensor> state);

private:
    OptimizerKind m_kind;
    std::vector<double> m_rates;
    double m_momentum;
    /// By tensor; undefined before its first gradient. Adam: both moments and the count of steps.
    std::vector<at::Tensor> m_first, m_second, m_steps;
};

} // namespace qs
