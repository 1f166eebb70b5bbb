// SPDX-License-Identifier: Apache-2.0
#include "engine/train/training_memory.h"

#include "engine/base/memory/memory_budget.h"
#include "engine/calibrate/memory_estimate.h"
#include "engine/compare/output_run.h"
#include "engine/execute/gradients/segment_cuts.h"
#include "engine/graph/text/size_expression.h"

#include <algorithm>

namespace qs {

namespace {

// Measured; see tests/bench/README.md.
constexpr double kProgram = 150.0 * 1024 * 1024;
/// Bytes that a step keeps for each byte of its values by shapes: results, and the masks of fake
/// quantizers.
constexpr double kKept = 1.25;
/// Gradients and scratch memory of operators on the way back, in largest values.
constexpr double kPassing = 3;

std::vector<ValueRef> parametersOf(const TrainingGraph& graph)
{
    std::vector<ValueRef> refs;
    for (const NodeId node : graph.parameters)
        refs.push_back({node, 0});
    return refs;
}

std::vector<ValueRef> outputsOf(const Graph& graph)
{
    std::vector<ValueRef> refs;
    for (const Argument* argument : outputArguments(graph))
        if (argument->asRef())
            refs.push_back(*argument->asRef());
    return refs;
}

/// Bytes of the model's tensors, each counted once.
double weightsOf(const Graph& model)
{
    StoredBytes stored(model);
    double bytes = 0;
    for (const NodePtr& node : model.nodes())
        bytes += stored.count(*node);
    return bytes;
}

/// Copies of the weights at the peak: the file's, those that train, their gradients, the best ones
/// and the optimizer's.
double copiesOf(const TrainingSettings& settings)
{
    const int ofOptimizer = settings.optimizer == OptimizerKind::Adam ? 2
        : settings.momentum > 0                                       ? 1
                                                                      : 0;
    return 4 + ofOptimizer;
}

std::int64_t largestValue(const GradientSteps& steps, const OpenSizes& sizes)
{
    std::int64_t most = 0;
    for (std::size_t step = 0; step < steps.size(); ++step)
        for (const Value& value : steps.node(step).outputs)
            most = std::max(most, tensorBytes(value.type, sizes));
    return most;
}

} // namespace

std::string TrainingMemory::text() const
{
    return "about " + memoryText(bytes()) + " of memory for batches of " + std::to_string(samples);
}

TrainingMemory predictTrainingMemory(const TrainingGraph& graph, const TrainingSettings& settings,
                                     std::int64_t samples, std::int64_t limit)
{
    const Graph& prepared = *graph.graph;
    const std::vector<ValueRef> parameters = parametersOf(graph), outputs = outputsOf(prepared);
    const GradientSteps steps(prepared, parameters, outputs, [](ValueRef) { return false; });
    const OpenSizes sizes = openSizes(prepared, samples);
    TrainingMemory made;
    made.samples = samples;
    made.fixed = std::int64_t(kProgram + copiesOf(settings) * weightsOf(*graph.model));
    const double passing = kPassing * double(largestValue(steps, sizes));
    const auto valuesWithin = [&](std::size_t bytes) {
        const double kept = double(chooseCuts(steps, sizes, {bytes, bytes}).bytes);
        return std::int64_t(kKept * kept + passing);
    };
    made.values = valuesWithin(std::size_t(-1));
    if (limit <= 0 || made.bytes() <= limit)
        return made;
    const double left = double(limit - made.fixed) - passing;
    made.limit = std::max<std::int64_t>(1, std::int64_t(left / kKept));
    made.values = valuesWithin(std::size_t(made.limit));
    return made;
}

Result<TrainingMemory> fitTrainingMemory(const TrainingGraph& graph,
                                         const TrainingSettings& settings, std::int64_t samples,
                                         std::int64_t limit)
{
    TrainingMemory fitting = predictTrainingMemory(graph, settings, samples, limit);
    const auto fits = [&](std::int64_t part) {
        if (part != samples)
            fitting = predictTrainingMemory(graph, settings, part, limit);
        return fitting.bytes() <= limit;
    };
    if (limit > 0 && largestBatch(samples, fits) == 0)
        return fail(makeError(ErrorCode::Device,
                              "the training needs " + fitting.text() + ", where --memory gives "
                                  + memoryText(limit))
                        .inFile(graph.model->info().path)
                        .withHint("give more with --memory"));
    return fitting;
}

} // namespace qs
