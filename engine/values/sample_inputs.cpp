// SPDX-License-Identifier: Apache-2.0
#include "engine/values/sample_inputs.h"

#include "engine/base/torch_guard.h"
#include "engine/calibrate/data/dataset.h"
#include "engine/compare/metrics/sample_sums.h"
#include "engine/execute/value_conversion.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <map>

namespace qs {

namespace {

/// The input to show; nullopt without one.
std::optional<std::size_t> shownInput(const Batch& batch)
{
    for (const bool isFloating : {true, false})
        for (std::size_t i = 0; i < batch.inputs.size(); ++i) {
            if (!batch.inputs[i].isTensor())
                continue;
            const at::Tensor& value = batch.inputs[i].toTensor();
            if (value.is_floating_point() == isFloating && !value.is_complex()
                && hasSamples(value, batch.samples))
                return i;
        }
    return std::nullopt;
}

Result<SampleInput> inputOf(const Batch& batch, const std::vector<std::string>& names,
                            std::int64_t sample, std::int64_t row)
{
    const auto shown = shownInput(batch);
    if (!shown)
        return fail(ErrorCode::Unsupported, "no input of the model has one row a sample");
    at::Tensor value = batch.inputs[*shown].toTensor();
    if (value.dim() > 0 && value.size(0) == batch.samples)
        value = value.select(0, row);
    SampleInput input;
    input.sample = sample;
    input.name = *shown < names.size() ? names[*shown] : std::string();
    input.shape = value.sizes().vec();
    const at::Tensor flat = value.reshape({-1});
    input.values = floatsOf(flat.narrow(0, 0, std::min(flat.numel(), SampleInput::kMostValues)));
    return input;
}

Result<std::vector<SampleInput>> found(const Dataset& data, const std::vector<std::string>& names,
                                       const std::vector<std::int64_t>& samples,
                                       const JobContext& job)
{
    std::multimap<std::int64_t, std::size_t> places; // by sample: index in the request
    for (std::size_t i = 0; i < samples.size(); ++i)
        places.emplace(samples[i], i);
    std::vector<SampleInput> inputs(samples.size());
    std::int64_t before = 0;
    auto next = places.begin();
    for (std::int64_t i = 0; i < data.batchCount() && next != places.end(); ++i) {
        QS_CHECK(job.check());
        QS_TRY(const std::int64_t count, data.samplesIn(i));
        std::optional<Batch> batch;
        for (; next != places.end() && next->first < before + count; ++next) {
            if (next->first < before)
                break; // a negative index
            if (!batch) {
                QS_TRY(batch, data.batch(i));
            }
            QS_TRY(inputs[next->second], inputOf(*batch, names, next->first, next->first - before));
        }
        before += count;
    }
    if (next != places.end())
        return fail(makeError(ErrorCode::BadInput,
                              "the data have no sample " + std::to_string(next->first)));
    return inputs;
}

} // namespace

Result<std::vector<SampleInput>> sampleInputs(const Dataset& data,
                                              const std::vector<std::string>& names,
                                              const std::vector<std::int64_t>& samples,
                                              const JobContext& job)
{
    const InferenceScope inference;
    return guardTorchValue<std::vector<SampleInput>>(
        [&] { return found(data, names, samples, job); });
}

} // namespace qs
