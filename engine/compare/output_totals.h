// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/calibrate/data/dataset.h"
#include "engine/compare/metrics/sample_sums.h"
#include "engine/compare/metrics/top1.h"
#include "engine/compare/sweep/sweep.h"

#include <string>
#include <vector>

namespace qs {

/// What a comparison adds up at the model's outputs over the batches: errors of the forms, classes,
/// worst samples. Borrows the converted model. One thread.
class OutputTotals
{
public:
    explicit OutputTotals(const ConvertedModel& converted);

    /// Adds one batch: the outputs of the sweep and of the lowered form, in the model's order.
    /// `isNoted`: a note has said that shapes differ.
    Result<void> add(const Sweep::Outputs& outputs, const std::vector<at::Tensor>& lowered,
                     const Batch& batch, bool isNoted);

    const std::vector<std::string>& names() const { return m_names; }
    void addTo(Comparison& comparison) const;
    void warnOfUnknownLabels() const { m_top1.warnOfUnknown(); }

    /// The sums as bytes for another rank (`Relay`), and from them. Errors (Internal): damaged
    /// bytes.
    std::string packed() const;
    Result<void> restore(const std::string& bytes);

private:
    struct Sums
    {
        ErrorSums reference, lowered, forms;
        bool isUnmeasured = false; ///< for good: the shapes differ
    };
    std::vector<std::string> losses(const std::vector<OutputError>& outputs) const;
    Result<void> addOutput(std::size_t index, const at::Tensor& y, const at::Tensor& reference,
                           const at::Tensor& lowered, bool isNoted);
    std::vector<ValuePair> measured(const Sweep::Outputs& outputs,
                                    const std::vector<at::Tensor>& lowered) const;

    const ConvertedModel& m_converted;
    const std::vector<std::string> m_names;
    std::vector<Sums> m_sums;
    Top1 m_top1;
    SampleSums m_sampleSums;
    std::int64_t m_samples = 0;
};

} // namespace qs
