// SPDX-License-Identifier: Apache-2.0
#include "tests/support/fake_engine.h"

namespace qs {

SampleErrorsPtr fakeSamples(bool isLabelled)
{
    auto errors = std::make_shared<SampleErrors>();
    errors->output = "output";
    ClassCounts& classes = errors->classes.emplace();
    classes.output = "output";
    classes.classes = 4;
    for (int i = 0; i < 16; ++i) {
        SampleRecord record {i, 100, 1.0 / (1 + i), 20.0 + i, i % 4, i % 4, {}, i % 5 == 0};
        if (record.isChanged)
            record.int8Class = (i + 1) % 4;
        if (isLabelled) {
            record.label = i % 3;
            ++classes.labelFloat[*record.label][*record.floatClass];
            ++classes.labelInt8[*record.label][*record.int8Class];
        }
        ++classes.floatInt8[*record.floatClass][*record.int8Class];
        errors->worst.push_back(record);
    }
    return errors;
}

Result<std::vector<SampleInput>> FakeEngine::sampleInputs(const SampleInputsRequest& request,
                                                          const JobContext&)
{
    std::vector<SampleInput> inputs;
    for (const std::int64_t sample : request.samples) {
        SampleInput& input = inputs.emplace_back(SampleInput {sample, "x", {3, 8, 8}, {}});
        for (int i = 0; i < 3 * 8 * 8; ++i)
            input.values.push_back(float((i * (sample + 3)) % 17));
    }
    return inputs;
}

Result<ValueInspectionPtr> FakeEngine::inspect(const CompareRequest& request,
                                               const InspectionTarget& target,
                                               const JobContext& job)
{
    ++inspections;
    while (waitInInspection)
        QS_CHECK(job.check());
    auto out = std::make_shared<ValueInspection>();
    out->target = target;
    out->name
        = target.output ? "output" : request.converted->prepared->model->get(target.node).name;
    out->error = ErrorMetrics {};
    out->error->sqnrDb = 30;
    out->kl = 0.01;
    out->results = {{out->name, {3, 4, 2, 3}, 1, 4}};
    for (int c = 0; c < 4; ++c) {
        ChannelError& channel = out->channels.emplace_back();
        channel.channel = c;
        channel.signal = 100;
        channel.noise = c + 1;
        channel.count = 18;
        channel.sqnrDb = 40 - c;
        channel.isWide = c == 3;
    }
    out->samples = {{100, 1, 35, 0.1}, {100, 2, 25, 0.2}, {100, 1, 32, 0.1}};
    out->sampleCount = 3;
    out->batchSamples = {3};
    return ValueInspectionPtr(out);
}

Result<SampleValuesPtr> FakeEngine::sampleValues(const CompareRequest&, const SampleWanted& wanted,
                                                 const JobContext&)
{
    auto out = std::make_shared<SampleValues>();
    out->target = wanted.target;
    out->sample = wanted.sample;
    out->shape = {4, 2, 3};
    out->channelAxis = 0;
    out->planes = 4;
    out->rows = 2;
    out->columns = 3;
    for (int i = 0; i < 24; ++i) {
        out->floating.push_back(float(i));
        out->converted.push_back(float(i) + 0.01F);
    }
    return SampleValuesPtr(out);
}

} // namespace qs
