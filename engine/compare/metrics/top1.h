// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/calibrate/data/dataset.h"
#include "engine/compare/comparison.h"
#include "engine/compare/metrics/class_scores.h"

#include <ATen/core/Tensor.h>

namespace qs {

/// The classes of the samples of one batch.
struct BatchClasses
{
    std::vector<std::int64_t> floating, converted; ///< of the highest score
    std::vector<std::int64_t> labels; ///< empty without labels
    std::vector<bool> isOdd; ///< a score is NaN in either model
    std::int64_t classes = 0; ///< scores of a sample
};

/// Top-1 figures of the first output that holds class scores: floating point, [samples, classes],
/// at least two classes, and identified by the data's labels or by the model (`classScores`).
/// Counts over batches how often the two models agree and, for labelled data, how often each is
/// right. Has no figures if no output qualifies in every batch. Not thread-safe.
class Top1
{
public:
    /// The state between batches.
    struct Counts
    {
        std::optional<std::int64_t> output; ///< with the scores; -1: none any more
        std::int64_t samples = 0, agree = 0, classes = 0;
        std::int64_t labelled = 0, floatRight = 0, int8Right = 0, unknown = 0;
    };
    /// Accepts every output with the right type and shape.
    Top1() = default;
    /// `known`: for each output, flattened and in order.
    explicit Top1(std::vector<ClassScores> known)
        : m_known(std::move(known))
    {
    }
    /// Adds the outputs of both models for one batch, flattened and in order, undefined for
    /// non-tensors, on any device. A row with NaN in either model never agrees.
    /// Returns the classes that it counted; nullopt if no output qualifies.
    std::optional<BatchClasses> add(const std::vector<at::Tensor>& floatOutputs,
                                    const std::vector<at::Tensor>& int8Outputs, const Batch& batch);
    /// Logs a warning if labels name classes that the model does not have; these never match.
    void warnOfUnknown() const;
    /// Writes the figures to the comparison. `names`: of the outputs.
    void addTo(Comparison& comparison, const std::vector<std::string>& names) const;
    const Counts& counts() const { return m_counts; }
    /// Continues from the counts of another rank.
    void restore(const Counts& counts) { m_counts = counts; }
    std::optional<Agreement> agreement(const std::vector<std::string>& names) const;

private:
    /// Index of the output to use for a batch; -1 if none qualifies any more.
    std::int64_t chosen(const std::vector<at::Tensor>& floatOutputs,
                        const std::vector<at::Tensor>& int8Outputs, const Batch& batch);
    /// True if labels or model show that the output holds scores.
    bool isKnown(std::size_t output, std::int64_t columns, const Batch& batch) const;

    std::optional<std::vector<ClassScores>> m_known;
    Counts m_counts;
};

} // namespace qs
