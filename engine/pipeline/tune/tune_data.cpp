// SPDX-License-Identifier: Apache-2.0
#include "engine/pipeline/tune/tune_data.h"

#include "engine/base/text.h"
#include "engine/calibrate/data/input_data.h"
#include "engine/compare/output_run.h"
#include "engine/pipeline/keys/content_keys.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <optional>

namespace qs {

namespace {

constexpr std::int64_t kLeastBatches = 8; ///< least number of batches, if the data allow it
constexpr std::int64_t kAdvised = 16; ///< advised number of samples
constexpr std::size_t kMostNamed = 5; ///< most samples named in a note

/// A dataset of batches in memory.
class HeldBatches : public Dataset
{
public:
    HeldBatches(std::vector<Batch> batches, const Dataset& from)
        : m_batches(std::move(batches))
        , m_hasLabels(from.hasLabels())
    {
        setSequence(from.isSequence());
    }
    std::int64_t batchCount() const override { return std::int64_t(m_batches.size()); }
    Result<Batch> batch(std::int64_t index) const override
    {
        return m_batches.at(std::size_t(index));
    }
    bool hasLabels() const override { return m_hasLabels; }

private:
    std::vector<Batch> m_batches;
    bool m_hasLabels;
};

/// Limits the batch size to an eighth of `samples`. Returns whether that changes it.
bool cutInEighths(CalibrationSettings& cut, std::int64_t samples)
{
    const std::int64_t each = std::max<std::int64_t>(1, samples / kLeastBatches);
    const int before = cut.batchSize;
    cut.batchSize = int(std::min<std::int64_t>(before, each));
    return cut.batchSize != before;
}

/// The compared data in batches of at most an eighth of the samples; sets `cut` to the settings.
Result<std::shared_ptr<const Dataset>> openedData(StageChain& chain, const TuneRequest& request,
                                                  const Graph& model, CalibrationSettings& cut)
{
    cut = comparedCut(request.settings, request.recipe.calibration);
    cutInEighths(cut, request.samples);
    cut.batches = 0;
    QS_TRY(auto data, chain.data(model, request.settings.compared(), cut));
    const std::int64_t count = data->batchCount();
    if (count == 0 || count >= kLeastBatches)
        return data;
    QS_TRY(const Batch first, data->batch(0));
    QS_TRY(const Batch last, data->batch(count - 1));
    if (!cutInEighths(cut, (count - 1) * first.samples + last.samples))
        return data;
    const auto smaller = chain.data(model, request.settings.compared(), cut);
    return smaller ? *smaller : data; // a model may require larger batches
}

bool isFloats(const at::Tensor& output)
{
    return output.defined() && output.is_floating_point();
}

/// "sample 3", "samples 3, 5 and 9", "12 samples, 3 the first of them".
std::string samplesText(const std::vector<std::int64_t>& samples)
{
    if (samples.size() > kMostNamed)
        return counted(std::int64_t(samples.size()), "sample") + ", "
            + std::to_string(samples.front()) + " the first of them,";
    std::string text = samples.size() == 1 ? "sample " : "samples ";
    for (std::size_t i = 0; i < samples.size(); ++i)
        text += (i == 0                        ? ""
                     : i + 1 == samples.size() ? " and "
                                               : ", ")
            + std::to_string(samples[i]);
    return text;
}

/// Reads batches in turn and keeps the samples that can be measured.
class TuneDataReader
{
public:
    TuneDataReader(const TuneRequest& request, const Graph& model, OutputRun run,
                   const std::vector<std::string>& names)
        : m_request(request)
        , m_model(model)
        , m_run(std::move(run))
        , m_names(names)
    {
    }

    /// Call once.
    Result<TuneData> read(const Dataset& data, const JobContext& job)
    {
        for (std::int64_t i = 0; i < data.batchCount() && m_made.samples() < m_request.samples;
             ++i) {
            QS_TRY(Batch batch, data.batch(i));
            m_largest = std::max(m_largest, batch.samples);
            QS_CHECK(add(std::move(batch), job));
        }
        tellLeftOut();
        std::vector<Batch> searched, all;
        for (const CleanBatch& clean : m_made.batches) {
            all.push_back(clean.batch);
            if (!clean.isGuard)
                searched.push_back(clean.batch);
        }
        m_made.search = std::make_shared<const HeldBatches>(std::move(searched), data);
        m_made.all = std::make_shared<const HeldBatches>(std::move(all), data);
        return m_made;
    }

    /// Fails if no samples are left for the search or for the guard.
    Result<void> check() const
    {
        const std::string& file = m_request.settings.compared();
        const std::int64_t samples = m_made.samples();
        if (samples == 0)
            return fail(
                makeError(ErrorCode::BadInput, "no sample gives finite outputs of the float model")
                    .inFile(file));
        if (!m_hasSignal)
            return fail(makeError(ErrorCode::Unsupported,
                                  "no output of the model holds floats other than zero: there is "
                                  "no noise to search by")
                            .inFile(file));
        if (m_made.guardSamples > 0 || !m_request.needsGuard)
            return {};
        const std::string enough
            = std::to_string(std::max(kAdvised, batchesForGuard() * m_largest));
        return fail(makeError(ErrorCode::BadInput,
                              counted(samples, "sample")
                                  + (m_notFinite.empty() ? "" : " with finite outputs")
                                  + ": no guard, which needs more of them")
                        .inFile(file)
                        .withHint((samples >= m_request.samples ? "--samples " : "give ") + enough
                                  + " or more, or --no-guard"));
    }

private:
    Result<void> add(Batch batch, const JobContext& job)
    {
        const std::int64_t first = m_seen;
        m_seen += batch.samples;
        QS_TRY(auto outputs, m_run.run(batch, job));
        const std::vector<bool> isFinite = finiteRows(outputs, batch.samples);
        const std::int64_t wanted = m_request.samples - m_made.samples();
        std::vector<std::int64_t> rows, others; // rows of the batch
        for (std::int64_t row = 0; row < batch.samples && std::ssize(rows) < wanted; ++row)
            (isFinite[std::size_t(row)] ? rows : others).push_back(row);
        if (!rows.empty() && std::ssize(rows) < batch.samples) {
            QS_TRY(auto cut, cutTo(batch, rows, job));
            if (cut) {
                leaveOut(others, first);
                keep(std::move(*cut));
                return {};
            }
        }
        if (std::all_of(isFinite.begin(), isFinite.end(), [](bool finite) { return finite; })) {
            keep({std::move(batch), std::move(outputs), false});
            return {};
        }
        others.clear();
        for (std::int64_t row = 0; row < batch.samples; ++row)
            if (!isFinite[std::size_t(row)])
                others.push_back(row);
        leaveOut(others, first);
        m_withOthers += batch.samples - std::ssize(others);
        return {};
    }

    void leaveOut(const std::vector<std::int64_t>& rows, std::int64_t first)
    {
        for (const std::int64_t row : rows)
            m_notFinite.push_back(first + row);
    }

    void keep(CleanBatch clean)
    {
        const auto kept = std::int64_t(m_made.batches.size());
        clean.isGuard = isGuardBatch(kept);
        (clean.isGuard ? m_made.guardSamples : m_made.searchSamples) += clean.batch.samples;
        for (const at::Tensor& output : clean.outputs)
            m_hasSignal
                = m_hasSignal || (isFloats(output) && at::square(output).sum().item<double>() > 0);
        m_made.batches.push_back(std::move(clean));
    }

    /// For each sample, whether all outputs are finite; all false if an output that is not finite
    /// does not have one row per sample.
    std::vector<bool> finiteRows(const std::vector<at::Tensor>& outputs, std::int64_t samples)
    {
        std::vector<bool> isFinite(std::size_t(samples), true);
        for (std::size_t o = 0; o < outputs.size(); ++o) {
            if (!isFloats(outputs[o]) || at::isfinite(outputs[o]).all().item<bool>())
                continue;
            if (m_badOutput.empty())
                m_badOutput = inQuotes(o < m_names.size() ? m_names[o] : std::to_string(o));
            if (outputs[o].dim() == 0 || outputs[o].size(0) != samples)
                return std::vector<bool>(std::size_t(samples), false);
            const at::Tensor rows
                = at::isfinite(outputs[o]).reshape({samples, -1}).all(1).contiguous();
            for (std::int64_t row = 0; row < samples; ++row)
                if (!rows.const_data_ptr<bool>()[row])
                    isFinite[std::size_t(row)] = false;
        }
        return isFinite;
    }

    /// Some samples of the batch with the model's outputs; empty if the model does not accept them.
    Result<std::optional<CleanBatch>>
    cutTo(const Batch& batch, const std::vector<std::int64_t>& rows, const JobContext& job)
    {
        const at::Tensor chosen = at::tensor(rows, at::kLong);
        const auto inputs = m_model.inputs();
        CleanBatch made {batch, {}, false};
        bool isCut = false;
        for (std::size_t i = 0; i < inputs.size() && i < made.batch.inputs.size(); ++i) {
            at::IValue& input = made.batch.inputs[i];
            if (fixedBatch(*inputs[i]))
                return std::optional<CleanBatch>();
            if (!input.isTensor() || input.toTensor().dim() == 0
                || input.toTensor().size(0) != batch.samples)
                continue;
            input = input.toTensor().index_select(0, chosen);
            isCut = true;
        }
        if (!isCut)
            return std::optional<CleanBatch>();
        made.batch.samples = std::int64_t(rows.size());
        if (made.batch.labels.defined())
            made.batch.labels = made.batch.labels.index_select(0, chosen);
        auto outputs = m_run.run(made.batch, job);
        if (!outputs && outputs.error().code == ErrorCode::Cancelled)
            return fail(std::move(outputs).error());
        const bool isMade = outputs
            && std::all_of(outputs->begin(), outputs->end(), [](const at::Tensor& output) {
                                return !isFloats(output) || at::isfinite(output).all().item<bool>();
                            });
        if (!isMade) // the model fixes the batch size or mixes samples
            return std::optional<CleanBatch>();
        made.outputs = std::move(*outputs);
        return std::optional(std::move(made));
    }

    void tellLeftOut()
    {
        if (m_notFinite.empty())
            return;
        const bool isOne = m_notFinite.size() == 1;
        m_made.notes.push_back(samplesText(m_notFinite) + (isOne ? " is" : " are")
                               + " left out: the output " + m_badOutput
                               + " of the float model is not finite on " + (isOne ? "it" : "them"));
        if (m_withOthers > 0)
            m_made.notes.push_back(counted(m_withOthers, "other sample")
                                   + " of these batches go with them: the model takes a batch as "
                                     "a whole");
    }

    const TuneRequest& m_request;
    const Graph& m_model;
    OutputRun m_run;
    const std::vector<std::string>& m_names;
    TuneData m_made;
    std::int64_t m_seen = 0; ///< samples read, including those left out
    std::int64_t m_largest = 1; ///< most samples in a batch
    std::vector<std::int64_t> m_notFinite; ///< samples that are not finite
    std::int64_t m_withOthers = 0; ///< finite samples left out with their batch
    std::string m_badOutput; ///< the first output that is not finite
    bool m_hasSignal = false;
};

} // namespace

Result<TuneData> readTuneData(StageChain& chain, const TuneRequest& request, const GraphPtr& model,
                              const std::vector<std::string>& names, const JobContext& job)
{
    CalibrationSettings cut;
    QS_TRY(auto data, openedData(chain, request, *model, cut));
    for (bool isCutAgain = false;; isCutAgain = true) {
        QS_TRY(OutputRun run, OutputRun::create(model));
        TuneDataReader reader(request, *model, std::move(run), names);
        QS_TRY(TuneData made, reader.read(*data, job));
        // If too few samples remain for a guard, smaller batches may leave enough.
        if (made.guardSamples == 0 && !isCutAgain && cutInEighths(cut, made.samples()))
            if (auto finer = chain.data(*model, request.settings.compared(), cut)) {
                data = std::move(*finer);
                continue;
            }
        QS_CHECK(reader.check());
        return made;
    }
}

} // namespace qs
