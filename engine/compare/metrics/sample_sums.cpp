// SPDX-License-Identifier: Apache-2.0
#include "engine/compare/metrics/sample_sums.h"

#include "engine/distribute/packed.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace qs {

namespace {

/// Elements of a row from which several threads sum it.
constexpr std::int64_t kLongRow = std::int64_t(1) << 16;

/// The sums of each sample of a value with one row a sample.
Result<std::vector<ErrorSums>> rowSums(const ValuePair& values, std::int64_t samples)
{
    std::vector<ErrorSums> rows(static_cast<std::size_t>(samples));
    const std::int64_t elements = values.first.numel() / std::max<std::int64_t>(1, samples);
    if (elements == 0)
        return rows;
    const at::Tensor y = values.first.to(at::kCPU, at::kFloat).contiguous(),
                     other = values.second.to(at::kCPU, at::kFloat).contiguous();
    const float *signal = y.const_data_ptr<float>(), *made = other.const_data_ptr<float>();
    const int threads = elements < kLongRow ? 1 : at::get_num_threads();
    for (std::int64_t row = 0; row < samples; ++row) {
        ErrorSums& sums = rows[std::size_t(row)];
        const std::int64_t at = row * elements;
        sums = kernels::errorSumsCpu(signal + at, made + at, elements, threads);
        if (std::isfinite(sums.signal2) && std::isfinite(sums.other2) && std::isfinite(sums.noise2))
            continue;
        sums = {};
        QS_CHECK(addError(sums, y.view({-1}).narrow(0, at, elements),
                          other.view({-1}).narrow(0, at, elements)));
    }
    return rows;
}

/// Adds a sample if it is among the worst.
void keepWorst(std::vector<SampleRecord>& worst, const SampleRecord& record)
{
    if (worst.size() == SampleErrors::kMost) {
        if (!isWorse(record, worst.front()))
            return;
        std::pop_heap(worst.begin(), worst.end(), isWorse);
        worst.pop_back();
    }
    worst.push_back(record);
    std::push_heap(worst.begin(), worst.end(), isWorse);
}

/// The records of a batch's samples, with classes and without errors.
std::vector<SampleRecord> recordsOf(std::int64_t first, std::int64_t samples,
                                    const std::optional<BatchClasses>& classes)
{
    std::vector<SampleRecord> records(static_cast<std::size_t>(samples));
    for (std::size_t i = 0; i < records.size(); ++i) {
        SampleRecord& record = records[i];
        record.index = first + std::int64_t(i);
        if (!classes)
            continue;
        record.floatClass = classes->floating[i];
        record.int8Class = classes->converted[i];
        if (!classes->labels.empty())
            record.label = classes->labels[i];
        record.isChanged = classes->isOdd[i] || record.floatClass != record.int8Class;
    }
    return records;
}

void packPairs(Packer& out, const PairCounts& counts)
{
    std::vector<std::array<std::int64_t, 3>> flat;
    for (const auto& [row, columns] : counts)
        for (const auto& [column, count] : columns)
            flat.push_back({row, column, count});
    out.add(flat);
}

void unpackPairs(Unpacker& in, PairCounts& counts)
{
    std::vector<std::array<std::int64_t, 3>> flat;
    in.get(flat);
    counts.clear();
    for (const auto& [row, column, count] : flat)
        counts[row][column] = count;
}

} // namespace

bool hasSamples(const at::Tensor& value, std::int64_t samples)
{
    return samples == 1 || (value.dim() > 0 && value.size(0) == samples);
}

void SampleSums::count(const BatchClasses& classes)
{
    m_classes.classes = classes.classes;
    for (std::size_t i = 0; i < classes.floating.size(); ++i) {
        if (classes.isOdd[i])
            ++m_classes.notANumber;
        else
            ++m_classes.floatInt8[classes.floating[i]][classes.converted[i]];
        if (classes.labels.empty())
            continue;
        ++m_classes.labelFloat[classes.labels[i]][classes.floating[i]];
        ++m_classes.labelInt8[classes.labels[i]][classes.converted[i]];
    }
}

Result<void> SampleSums::add(const std::vector<ValuePair>& outputs, std::int64_t samples,
                             const std::optional<BatchClasses>& classes)
{
    if (classes)
        count(*classes);
    m_outputs.resize(outputs.size());
    const std::vector<SampleRecord> records = recordsOf(m_samples, samples, classes);
    for (std::size_t k = 0; k < outputs.size(); ++k) {
        Output& output = m_outputs[k];
        output.hasRows = output.hasRows && outputs[k].first.defined() && outputs[k].second.defined()
            && hasSamples(outputs[k].first, samples);
        if (!output.hasRows)
            continue;
        QS_TRY(const std::vector<ErrorSums> rows, rowSums(outputs[k], samples));
        for (std::size_t i = 0; i < rows.size(); ++i) {
            SampleRecord record = records[i];
            record.signal = rows[i].signal2;
            record.noise = rows[i].noise2;
            const auto metrics = metricsFrom(rows[i]);
            record.sqnrDb = metrics ? metrics->sqnrDb : std::nullopt;
            keepWorst(output.all, record);
            if (record.isChanged)
                keepWorst(output.changed, record);
        }
    }
    m_samples += samples;
    return {};
}

SampleErrorsPtr SampleSums::result(const WholeErrors& comparison) const
{
    WholeErrors measured; // its outputs with rows
    std::vector<const Output*> places;
    for (std::size_t k = 0; k < m_outputs.size() && k < comparison.outputs.size(); ++k)
        if (m_outputs[k].hasRows) {
            measured.outputs.push_back(comparison.outputs[k]);
            places.push_back(&m_outputs[k]);
        }
    const OutputError* worst = measured.worstOutput();
    if (!worst)
        return nullptr;
    auto errors = std::make_shared<SampleErrors>();
    errors->output = worst->name;
    const Output& output = *places[std::size_t(worst - measured.outputs.data())];
    errors->worst = output.all;
    for (const SampleRecord& record : output.changed)
        if (std::find(output.all.begin(), output.all.end(), record) == output.all.end())
            errors->worst.push_back(record);
    std::sort(errors->worst.begin(), errors->worst.end(), isWorse);
    if (comparison.agreement) {
        errors->classes = m_classes;
        errors->classes->output = comparison.agreement->output;
    } else {
        for (SampleRecord& record : errors->worst)
            record = {record.index, record.signal, record.noise, record.sqnrDb};
    }
    return errors;
}

std::string SampleSums::packed() const
{
    Packer out;
    out.add(m_samples).add(m_classes.classes).add(m_classes.notANumber);
    for (const PairCounts* counts :
         {&m_classes.floatInt8, &m_classes.labelFloat, &m_classes.labelInt8})
        packPairs(out, *counts);
    for (const Output& output : m_outputs)
        out.add(output.all).add(output.changed).add(output.hasRows);
    return out.take();
}

Result<void> SampleSums::restore(const std::string& bytes)
{
    Unpacker in(bytes);
    in.get(m_samples).get(m_classes.classes).get(m_classes.notANumber);
    for (PairCounts* counts : {&m_classes.floatInt8, &m_classes.labelFloat, &m_classes.labelInt8})
        unpackPairs(in, *counts);
    m_outputs.clear();
    while (!in.isAtEnd() && in.check()) {
        Output& output = m_outputs.emplace_back();
        in.get(output.all).get(output.changed).get(output.hasRows);
    }
    return in.check();
}

} // namespace qs
