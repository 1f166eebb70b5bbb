// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/compare/comparison.h"
#include "engine/compare/metrics/metrics.h"
#include "engine/compare/metrics/top1.h"

namespace qs {

/// True if a value's rows are the samples of a batch, or the batch has one sample.
bool hasSamples(const at::Tensor& value, std::int64_t samples);

/// Finds the worst samples of each output over the batches, and counts classes. Memory: a fixed
/// number of samples per output, and one count per pair of classes. Not thread-safe.
class SampleSums
{
public:
    /// Adds the outputs of both models for one batch, flattened and in order; undefined where an
    /// output is not measured, which ends its measurement. `classes`: of the batch's samples.
    Result<void> add(const std::vector<ValuePair>& outputs, std::int64_t samples,
                     const std::optional<BatchClasses>& classes);
    /// The samples of the output that lost most; null if no output has one row a sample. Omits
    /// classes if the comparison has no `agreement`.
    SampleErrorsPtr result(const WholeErrors& comparison) const;

    /// The state between batches as bytes, and from them. Errors (Internal): damaged bytes.
    std::string packed() const;
    Result<void> restore(const std::string& bytes);

private:
    /// The worst samples so far, the best of them first (a heap).
    using Worst = std::vector<SampleRecord>;
    struct Output
    {
        Worst all, changed;
        bool hasRows = true;
    };
    void count(const BatchClasses& classes);

    std::vector<Output> m_outputs;
    ClassCounts m_classes;
    std::int64_t m_samples = 0;
};

} // namespace qs
