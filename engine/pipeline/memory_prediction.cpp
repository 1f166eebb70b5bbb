// SPDX-License-Identifier: Apache-2.0
#include "engine/pipeline/memory_prediction.h"

#include "engine/base/memory/memory_budget.h"
#include "engine/calibrate/memory_estimate.h"
#include "engine/import/held_tensors.h"

#include <algorithm>
#include <limits>

namespace qs {

namespace {

constexpr double kMega = 1024.0 * 1024.0;

/// Bytes of a model's float weights. Large weights are released between stages
/// (`import/archive/lazy_tensors`); small ones stay in memory.
struct Weights
{
    double small = 0, large = 0, largest = 0;
    void add(double bytes)
    {
        const bool isLarge = bytes > double(kHeldByUsers);
        (isLarge ? large : small) += bytes;
        largest = isLarge ? std::max(largest, bytes) : largest;
    }
};

Weights allWeights(const Graph& model)
{
    StoredBytes stored(model);
    Weights found;
    for (const NodePtr& node : model.nodes())
        found.add(stored.count(*node));
    return found;
}

/// The weights that the plan quantizes.
Weights quantizedWeights(const Graph& model, const Plan& plan)
{
    StoredBytes stored(model);
    Weights found;
    for (const MatchGroup& group : plan.groups)
        for (std::size_t i = 0; group.quantized && i < group.members.size(); ++i)
            if (const Node* node = model.tryGet(group.members[i]))
                for (const auto& arg : node->args)
                    forEachRef(arg.value,
                               [&](ValueRef ref) { found.add(stored.count(model.get(ref.node))); });
    return found;
}

} // namespace

const MemoryPrediction::Stage& MemoryPrediction::peak() const
{
    return *std::max_element(stages.begin(), stages.end(),
                             [](const Stage& a, const Stage& b) { return a.bytes() < b.bytes(); });
}

std::string MemoryPrediction::text() const
{
    return "about " + memoryText(peak().bytes()) + " of memory for batches of "
        + std::to_string(samples) + ", most in " + peak().name;
}

/// Memory of each stage, as multiples of the weights and of the values that are live in one float
/// run. The factors of the weights follow from the stages (see below). The factors of the values,
/// which include temporary memory of operators, and the program's own memory were measured.
MemoryPrediction predictMemory(const Graph& model, const Plan& plan, std::int64_t samples)
{
    const Weights all = allWeights(model), made = quantizedWeights(model, plan);
    const MemoryEstimate run = estimateMemory(model, samples);
    const auto live = double(run.live);
    MemoryPrediction out;
    out.samples = samples;
    out.device = run.needed();
    const auto stage = [&](const char* name, double program, double weights, double lives) {
        out.stages.push_back(
            {name, std::int64_t(program * kMega + weights), std::int64_t(lives * live)});
    };
    // The float weights.
    stage("calibrate", 138, all.small + all.large, 1.5);
    // Dequantized floats of the reference form, integers, packed integers; one large weight while
    // it is read.
    stage("convert", 153, all.small + 1.9 * made.small + 1.5 * made.large + all.largest, 1.9);
    // Floats, dequantized floats, packed integers of two forms; small weights have two more terms.
    stage("compare", 154,
          all.small + 2.2 * made.small + all.large + 1.5 * made.large + 0.5 * made.largest, 3.3);
    // The written file when it is read back, its dequantized floats, its integers; our floats.
    stage("export", 158,
          all.small + 2.9 * made.small + made.large + all.largest + 0.25 * made.largest, 1.7);
    return out;
}

namespace {

/// The largest batch size for which a run needs at most `limit` bytes (`largestBatch`).
std::int64_t fittingSamples(const Graph& model, const Plan& plan, std::int64_t samples,
                            std::int64_t limit)
{
    return largestBatch(samples, [&](std::int64_t part) {
        return predictMemory(model, plan, part).peak().bytes() <= limit;
    });
}

} // namespace

Result<void> checkMemoryLimit(const Graph& model, const Plan& plan, std::int64_t samples)
{
    const std::int64_t limit = memoryLimit();
    if (limit <= 0)
        return {};
    const MemoryPrediction prediction = predictMemory(model, plan, samples);
    if (prediction.peak().bytes() <= limit)
        return {};
    const std::int64_t fitting = fittingSamples(model, plan, samples, limit);
    return fail(
        makeError(ErrorCode::Device,
                  "needs " + prediction.text() + ", where --memory gives " + memoryText(limit))
            .withHint((fitting > 0 ? "set \"batch_size\" to " + std::to_string(fitting)
                               + " in the recipe's \"calibration\", or give"
                                   : std::string("give"))
                      + " more with --memory"));
}

CalibrationSettings withinMemoryLimit(const Graph& model, const Plan& plan,
                                      CalibrationSettings settings)
{
    const std::int64_t limit = memoryLimit();
    if (limit <= 0 || settings.isSequence)
        return settings;
    const std::int64_t fitting = fittingSamples(model, plan, settings.batchSize, limit);
    const std::int64_t batches
        = fitting > 0 ? settings.batchSize / fitting * settings.batches : settings.batches;
    if (fitting <= 0 || batches > std::numeric_limits<int>::max())
        return settings;
    settings.batchSize = int(fitting);
    settings.batches = int(batches);
    return settings;
}

} // namespace qs
