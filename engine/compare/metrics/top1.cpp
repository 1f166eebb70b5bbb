// SPDX-License-Identifier: Apache-2.0
#include "engine/compare/metrics/top1.h"

#include "engine/base/log.h"
#include "engine/base/text.h"

#include <ATen/ATen.h>

namespace qs {

namespace {

at::Tensor plainScores(const at::Tensor& scores)
{
    const at::Tensor plain = scores.is_quantized() ? scores.dequantize() : scores;
    return plain.to(at::kCPU, at::kFloat);
}

bool areScores(const at::Tensor& output, std::int64_t samples)
{
    return output.defined() && output.dim() == 2 && output.size(0) == samples && output.size(1) > 1
        && (output.is_quantized() || output.is_floating_point());
}

std::int64_t countTrue(const at::Tensor& mask)
{
    return mask.sum().item<std::int64_t>();
}

template<class T>
auto listOf(const at::Tensor& values)
{
    const at::Tensor flat = values.contiguous();
    const T* first = flat.const_data_ptr<T>();
    return std::vector<T>(first, first + flat.numel());
}

} // namespace

bool Top1::isKnown(std::size_t output, std::int64_t columns, const Batch& batch) const
{
    if (batch.labels.defined()) // floating-point labels are targets of a regression
        return !batch.labels.is_floating_point();
    if (!m_known)
        return true;
    const ClassScores known = output < m_known->size() ? (*m_known)[output] : ClassScores::Unlikely;
    return known == ClassScores::Sure
        || (known == ClassScores::Likely && columns >= kColumnsOfClasses);
}

std::int64_t Top1::chosen(const std::vector<at::Tensor>& floatOutputs,
                          const std::vector<at::Tensor>& int8Outputs, const Batch& batch)
{
    const auto fits = [&](std::size_t i) {
        return i < floatOutputs.size() && i < int8Outputs.size()
            && areScores(floatOutputs[i], batch.samples) && areScores(int8Outputs[i], batch.samples)
            && floatOutputs[i].sizes() == int8Outputs[i].sizes()
            && isKnown(i, floatOutputs[i].size(1), batch);
    };
    if (!m_counts.output) {
        m_counts.output = -1;
        for (std::size_t i = 0; i < floatOutputs.size() && *m_counts.output < 0; ++i)
            if (fits(i))
                m_counts.output = std::int64_t(i);
    } else if (*m_counts.output >= 0 && !fits(std::size_t(*m_counts.output))) {
        m_counts.output = -1;
    }
    return *m_counts.output;
}

std::optional<BatchClasses> Top1::add(const std::vector<at::Tensor>& floatOutputs,
                                      const std::vector<at::Tensor>& int8Outputs,
                                      const Batch& batch)
{
    const std::int64_t output = chosen(floatOutputs, int8Outputs, batch);
    if (output < 0)
        return std::nullopt;
    const at::Tensor ofFloat = plainScores(floatOutputs[std::size_t(output)]);
    const at::Tensor ofInt8 = plainScores(int8Outputs[std::size_t(output)]);
    const at::Tensor floatBest = ofFloat.argmax(1), int8Best = ofInt8.argmax(1);
    const at::Tensor odd = ofFloat.isnan().any(1).logical_or(ofInt8.isnan().any(1));
    m_counts.agree += countTrue(floatBest.eq(int8Best).logical_and(odd.logical_not()));
    m_counts.samples += batch.samples;
    BatchClasses classes {listOf<std::int64_t>(floatBest),
                          listOf<std::int64_t>(int8Best),
                          {},
                          listOf<bool>(odd),
                          ofFloat.size(1)};
    if (!batch.labels.defined() || batch.labels.size(0) != batch.samples)
        return classes;
    const at::Tensor labels = batch.labels.to(at::kLong);
    m_counts.floatRight += countTrue(floatBest.eq(labels));
    m_counts.int8Right += countTrue(int8Best.eq(labels));
    m_counts.labelled += batch.samples;
    m_counts.classes = ofFloat.size(1);
    m_counts.unknown += countTrue(labels.lt(0).logical_or(labels.ge(m_counts.classes)));
    if (labels.dim() == 1)
        classes.labels = listOf<std::int64_t>(labels);
    return classes;
}

void Top1::warnOfUnknown() const
{
    if (m_counts.unknown > 0)
        warn(counted(m_counts.unknown, "label") + " of " + std::to_string(m_counts.labelled)
             + " outside the model's classes 0 to " + std::to_string(m_counts.classes - 1)
             + ": top-1 counts their samples as wrong");
}

std::optional<Agreement> Top1::agreement(const std::vector<std::string>& names) const
{
    if (m_counts.output.value_or(-1) < 0 || m_counts.samples == 0)
        return std::nullopt;
    return Agreement {names.at(std::size_t(*m_counts.output)),
                      double(m_counts.agree) / double(m_counts.samples)};
}

void Top1::addTo(Comparison& comparison, const std::vector<std::string>& names) const
{
    comparison.agreement = agreement(names);
    if (!comparison.agreement || m_counts.labelled == 0)
        return;
    comparison.floatTop1 = double(m_counts.floatRight) / double(m_counts.labelled);
    comparison.int8Top1 = double(m_counts.int8Right) / double(m_counts.labelled);
}

} // namespace qs
