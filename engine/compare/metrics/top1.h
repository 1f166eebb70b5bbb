// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/calibrate/data/dataset.h"
#include "engine/compare/comparison.h"
#include "engine/compare/metrics/class_scores.h"

#include <ATen/core/Tensor.h>

namespace qs {

/// Highest entries of the first output that holds class scores: floating point, [samples, classes],
/// two classes at least, and known as such by the data's labels or by the model (`classScores`).
/// Counts over batches how often the two models agree on
/// it and, of labelled data, how often each is right. No figure where no output is of this kind in
/// every batch. Not thread-safe.
class Top1
{
public:
    /// Every output of that form counts.
    Top1() = default;
    /// `known`: of the outputs, flat and in order.
    explicit Top1(std::vector<ClassScores> known)
        : m_known(std::move(known))
    {
    }
    /// The outputs of both models for one batch, flat and in order, undefined for non-tensors; on
    /// any device. A row with NaN in either never agrees.
    void add(const std::vector<at::Tensor>& floatOutputs,
             const std::vector<at::Tensor>& int8Outputs, const Batch& batch);
    /// Warns of labels of classes that the model does not have: they never match.
    void warnOfUnknown() const;
    /// Writes the figures; `names` of the outputs.
    void addTo(Comparison& comparison, const std::vector<std::string>& names) const;
    std::optional<Agreement> agreement(const std::vector<std::string>& names) const;

private:
    /// -1 if no output is left.
    std::int64_t chosen(const std::vector<at::Tensor>& floatOutputs,
                        const std::vector<at::Tensor>& int8Outputs, const Batch& batch);
    /// True if labels or model show that the output holds scores.
    bool isKnown(std::size_t output, std::int64_t columns, const Batch& batch) const;

    std::optional<std::vector<ClassScores>> m_known;
    std::optional<std::int64_t> m_output;
    std::int64_t m_samples = 0, m_agree = 0, m_classes = 0;
    std::int64_t m_labelled = 0, m_floatRight = 0, m_int8Right = 0, m_unknown = 0;
};

} // namespace qs
