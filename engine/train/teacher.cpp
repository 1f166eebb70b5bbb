// SPDX-License-Identifier: Apache-2.0
#include "engine/train/teacher.h"

#include <ATen/ATen.h>

namespace qs {

namespace {

constexpr std::size_t kMostTeacherBytes = std::size_t(512) << 20;

std::size_t bytesOfOutputs(const std::vector<at::Tensor>& tensors)
{
    std::size_t bytes = 0;
    for (const at::Tensor& tensor : tensors)
        bytes += tensor.defined() ? tensor.nbytes() : 0;
    return bytes;
}

} // namespace

Result<Teacher> Teacher::create(GraphPtr model, const at::Device& device, const JobContext& job)
{
    QS_TRY(Interpreter interpreter, Interpreter::create(std::move(model), {.device = device}, job));
    return Teacher(std::move(interpreter));
}

Result<std::vector<at::Tensor>>
Teacher::outputs(std::int64_t number, const std::vector<at::IValue>& inputs, const JobContext& job)
{
    if (const auto kept = m_kept.find(number); kept != m_kept.end())
        return kept->second;
    QS_TRY(const auto values, m_interpreter.run(inputs, {}, job));
    std::vector<at::Tensor> outputs;
    for (const at::IValue& value : values)
        outputs.push_back(value.isTensor() && value.toTensor().is_floating_point()
                              ? value.toTensor()
                              : at::Tensor());
    if (m_bytes + bytesOfOutputs(outputs) <= kMostTeacherBytes) {
        m_bytes += bytesOfOutputs(outputs);
        m_kept.emplace(number, outputs);
    }
    return outputs;
}

at::Tensor distillLoss(std::span<const at::Tensor> outputs, const std::vector<at::Tensor>& clean)
{
    at::Tensor loss;
    for (std::size_t i = 0; i < outputs.size() && i < clean.size(); ++i) {
        if (!outputs[i].defined() || !clean[i].defined())
            continue;
        const at::Tensor signal = clean[i].square().sum();
        if (signal.item<double>() <= 0)
            continue;
        const at::Tensor part = (outputs[i] - clean[i]).square().sum() / signal;
        loss = loss.defined() ? loss + part : part;
    }
    return loss;
}

at::Tensor labelLoss(std::span<const at::Tensor> outputs, const at::Tensor& labels)
{
    for (const at::Tensor& output : outputs)
        if (output.defined() && output.dim() == 2 && output.size(0) == labels.size(0))
            return at::cross_entropy_loss(output, labels);
    return {};
}

} // namespace qs
