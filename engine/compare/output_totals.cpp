// SPDX-License-Identifier: Apache-2.0
#include "engine/compare/output_totals.h"

#include "engine/base/log.h"
#include "engine/convert/form_parts.h"
#include "engine/convert/whole_form.h"
#include "engine/distribute/packed.h"
#include "engine/graph/output_names.h"

#include <ATen/ATen.h>

namespace qs {

namespace {

bool comparable(const at::Tensor& signal, const at::Tensor& other)
{
    return signal.defined() && other.defined() && signal.is_floating_point();
}

at::Tensor tensorAt(const std::vector<at::Tensor>& tensors, std::size_t index)
{
    return index < tensors.size() ? tensors[index] : at::Tensor();
}

} // namespace

OutputTotals::OutputTotals(const ConvertedModel& converted)
    : m_converted(converted)
    , m_names(outputNames(*converted.prepared->model))
    , m_top1(classScores(*converted.prepared->model))
{
}

Result<void> OutputTotals::add(const Sweep::Outputs& outputs,
                               const std::vector<at::Tensor>& lowered, const Batch& batch,
                               bool isNoted)
{
    m_sums.resize(outputs.floatForm.size());
    for (std::size_t i = 0; i < outputs.floatForm.size(); ++i) {
        auto added = addOutput(i, outputs.floatForm[i], tensorAt(outputs.referenceForm, i),
                               tensorAt(lowered, i), isNoted);
        if (!added)
            return fail(std::move(added).error().atNode(m_names.at(i)));
    }
    QS_CHECK(m_sampleSums.add(measured(outputs, lowered), batch.samples,
                              m_top1.add(outputs.floatForm, lowered, batch)));
    m_samples += batch.samples;
    return {};
}

void OutputTotals::addTo(Comparison& comparison) const
{
    for (std::size_t i = 0; i < m_sums.size(); ++i)
        comparison.outputs.push_back({m_names.at(i), metricsFrom(m_sums[i].reference),
                                      metricsFrom(m_sums[i].lowered),
                                      metricsFrom(m_sums[i].forms)});
    comparison.losses = losses(comparison.outputs);
    comparison.samples = m_samples;
    m_top1.addTo(comparison, m_names);
    comparison.sampleErrors = m_sampleSums.result(comparison);
}

std::vector<std::string> OutputTotals::losses(const std::vector<OutputError>& outputs) const
{
    std::vector<std::string> lines;
    for (std::size_t i = 0; i < outputs.size() && isComparable(*m_converted.lowered); ++i) {
        const auto &reference = outputs[i].cumulative, &lowered = outputs[i].lowered;
        if (!reference || !lowered || !reference->sqnrDb || !lowered->sqnrDb)
            continue;
        const FormErrors errors {*reference->sqnrDb, *lowered->sqnrDb, m_sums[i].lowered.count};
        if (losesMore(errors))
            lines.push_back(lossText(outputs[i].name, errors));
    }
    return lines;
}

Result<void> OutputTotals::addOutput(std::size_t index, const at::Tensor& y,
                                     const at::Tensor& reference, const at::Tensor& lowered,
                                     bool isNoted)
{
    Sums& sums = m_sums[index];
    for (const at::Tensor& other : {reference, lowered}) {
        if (sums.isUnmeasured || !comparable(y, other) || y.sizes() == other.sizes())
            continue;
        if (!isNoted)
            note("output '" + m_names.at(index) + "': its shape follows from values and is "
                 + c10::str(y.sizes()) + " in the float model, " + c10::str(other.sizes())
                 + " in the converted one: it is not measured");
        sums = {{}, {}, {}, true};
    }
    if (sums.isUnmeasured)
        return {};
    if (comparable(y, reference))
        QS_CHECK(addError(sums.reference, y, reference.to(y.device())));
    if (comparable(y, lowered))
        QS_CHECK(addError(sums.lowered, y.cpu(), lowered));
    if (comparable(reference, lowered))
        QS_CHECK(addError(sums.forms, reference.cpu(), lowered));
    const bool odd = isInfiniteError(sums.reference) || isInfiniteError(sums.lowered);
    return odd ? checkNoNaN(y) : Result<void>();
}

/// Each output in the float and in the int8 model; undefined where it is not measured.
std::vector<ValuePair> OutputTotals::measured(const Sweep::Outputs& outputs,
                                              const std::vector<at::Tensor>& lowered) const
{
    std::vector<ValuePair> pairs(outputs.floatForm.size());
    for (std::size_t i = 0; i < pairs.size(); ++i)
        for (const auto* form : {&lowered, &outputs.referenceForm})
            if (!m_sums[i].isUnmeasured && !pairs[i].first.defined() && i < form->size()
                && comparable(outputs.floatForm[i], (*form)[i]))
                pairs[i] = {outputs.floatForm[i], (*form)[i]};
    return pairs;
}

std::string OutputTotals::packed() const
{
    return Packer()
        .add(m_sums)
        .add(m_top1.counts())
        .add(m_sampleSums.packed())
        .add(m_samples)
        .take();
}

Result<void> OutputTotals::restore(const std::string& bytes)
{
    Unpacker in(bytes);
    Top1::Counts counts;
    std::string samples;
    in.get(m_sums).get(counts).get(samples).get(m_samples);
    QS_CHECK(in.check());
    m_top1.restore(counts);
    return m_sampleSums.restore(samples);
}

} // namespace qs
