// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/execute/interpreter.h"

#include <span>
#include <unordered_map>
#include <vector>

namespace qs {

/// The float model that a training learns from. Keeps its outputs for batches, up to 512 MB. One
/// thread at a time.
class Teacher
{
public:
    static Result<Teacher> create(GraphPtr model, const at::Device& device, const JobContext& job);

    /// The outputs for the batch of this number, flat and in order; undefined where an output is
    /// not a tensor of floats.
    Result<std::vector<at::Tensor>>
    outputs(std::int64_t number, const std::vector<at::IValue>& inputs, const JobContext& job);

private:
    explicit Teacher(Interpreter interpreter)
        : m_interpreter(std::move(interpreter))
    {
    }

    Interpreter m_interpreter;
    std::unordered_map<std::int64_t, std::vector<at::Tensor>> m_kept; ///< by batch
    std::size_t m_bytes = 0;
};

// Losses of a batch; undefined if no output has one. May throw LibTorch's exceptions.

/// The sum over outputs of |y^ - y|^2 / |y|^2.
at::Tensor distillLoss(std::span<const at::Tensor> outputs, const std::vector<at::Tensor>& clean);
/// Cross entropy of the first output with a row of class scores for each label.
at::Tensor labelLoss(std::span<const at::Tensor> outputs, const at::Tensor& labels);

} // namespace qs
