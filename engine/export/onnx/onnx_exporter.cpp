// SPDX-License-Identifier: Apache-2.0
#include "engine/export/onnx/onnx_exporter.h"

#include "engine/base/memory/free_later.h"
#include "engine/base/text.h"
#include "engine/base/torch_guard.h"
#include "engine/execute/op_table.h"
#include "engine/execute/torch_types.h"
#include "engine/export/forms/fold_sizes.h"
#include "engine/export/forms/fold_weights.h"
#include "engine/export/forms/inline_regions.h"
#include "engine/export/onnx/onnx_builder.h"
#include "engine/export/onnx/targets/place_for_ort.h"
#include "engine/export/onnx/targets/tensorrt_rules.h"
#include "engine/graph/operators/state.h"
#include "engine/graph/output_names.h"
#include "engine/graph/pass.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <array>

namespace qs {

namespace {

Result<void> checkOpset(std::int64_t opset)
{
    if (opset >= kOldestOnnxOpset && opset <= kNewestOnnxOpset)
        return {};
    return fail(ErrorCode::Usage,
                "operator set " + std::to_string(opset) + " is not one of "
                    + std::to_string(kOldestOnnxOpset) + " to " + std::to_string(kNewestOnnxOpset));
}

/// Fails if the model updates state: ONNX files have no state that a call can change.
Result<void> checkNoState(const Graph& graph)
{
    const std::vector<StateUpdate> updates = stateUpdates(graph);
    if (updates.empty())
        return {};
    const Node& holder = graph.get(updates.front().holder);
    const std::string what = holder.kind == NodeKind::Input ? "the input '" : "the buffer '";
    return fail(makeError(ErrorCode::Unsupported,
                          "an ONNX model keeps no state, and each call changes " + what
                              + holder.target + "'")
                    .atNode(graph.get(updates.front().node).name)
                    .withHint("export another form, or return the new value as an output"));
}

std::string listed(const std::vector<std::string>& targets)
{
    std::string text;
    for (const std::string& target : targets)
        text += (text.empty() ? "" : ", ") + target;
    return text;
}

/// Fails with one error that lists all operators without an ONNX form.
Result<void> checkKnown(const OnnxBuilder& builder, const Graph& graph)
{
    const OnnxBuilder::Missing missing = builder.missing();
    if (!missing.first)
        return {};
    const std::string& reason = missing.first->opaqueReason;
    Error refusal = onnxRefusal(
        *missing.first,
        "ONNX has no form of " + listed(missing.targets)
            + (missing.targets.size() > 1
                   ? ", " + counted(std::int64_t(missing.targets.size()), "operator") + " in all"
                   : "")
            + (reason.empty() ? "" : ": " + reason));
    const bool isMadeOfOthers = std::all_of(
        missing.targets.begin(), missing.targets.end(), [](const std::string& target) {
            const auto op = findOperator(target);
            return op && op->hasKernelForDispatchKey(c10::DispatchKey::CompositeImplicitAutograd);
        });
    if (isMadeOfOthers && graph.info().format != "torchscript")
        refusal.hint += ", or save the model after .run_decompositions(), which spells it in "
                        "simpler operators";
    return fail(std::move(refusal));
}

at::Tensor tensorOf(const Argument& number)
{
    if (const auto* flag = number.asBool())
        return at::scalar_tensor(*flag, at::kBool);
    if (const auto* whole = number.asInt())
        return at::scalar_tensor(*whole, at::kLong);
    if (const auto* real = number.asDouble())
        return at::scalar_tensor(*real, at::kFloat);
    return {};
}

/// The graph's outputs: values, and numbers that are equal for every call. Leaves out outputs
/// that have the value None.
class GraphOutputs
{
public:
    GraphOutputs(OnnxBuilder& builder, std::vector<std::string> names)
        : m_builder(builder)
        , m_names(std::move(names))
    {
    }

    void add(const Argument& argument)
    {
        if (const auto* list = argument.asList()) {
            for (const Argument& item : *list)
                add(item);
            return;
        }
        const std::string& name = m_names.at(m_next++);
        if (const ValueRef* ref = argument.asRef()) {
            m_builder.reserveOutput(*ref, m_builder.names().output(name));
            ++m_count;
        } else if (const at::Tensor number = tensorOf(argument); number.defined()) {
            m_numbers.push_back({m_count++, m_builder.names().output(name), number});
        }
    }

    /// Adds the numbers to a finished graph that already has the values.
    void addNumbersTo(OnnxGraph& graph) const
    {
        for (const Number& number : m_numbers) {
            ValueType type;
            type.dtype = fromScalarType(number.value.scalar_type());
            type.shapeKnown = true;
            OnnxNode same;
            same.op = "Identity";
            same.name = number.name + "/Identity";
            same.inputs = {number.name + "/value"};
            same.outputs = {number.name};
            graph.initializers.push_back({same.inputs.front(), number.value, false});
            graph.nodes.push_back(std::move(same));
            graph.outputs.insert(graph.outputs.begin() + std::ptrdiff_t(number.position),
                                 OnnxBuilder::declared(number.name, type, false));
        }
    }

private:
    struct Number
    {
        std::size_t position; ///< among the outputs
        std::string name;
        at::Tensor value;
    };
    OnnxBuilder& m_builder;
    const std::vector<std::string> m_names;
    std::size_t m_next = 0; ///< index of the next name
    std::size_t m_count = 0; ///< outputs so far
    std::vector<Number> m_numbers;
};

OnnxMetadata metadataOf(const Graph& graph, const OnnxOptions& options)
{
    OnnxMetadata metadata {{"quantscope.format", "qdq"},
                           {"quantscope.target", std::string(onnxTargetName(options.target))},
                           {"quantscope.model", graph.info().name}};
    metadata.insert(metadata.end(), options.metadata.begin(), options.metadata.end());
    return metadata;
}

/// Passes that convert the graph to ONNX's form: without regions, fixed sizes as numbers.
std::array<Pass, 2> formPasses()
{
    constexpr PassTraits kOfFile {.isVerified = false};
    return {Pass("inline-regions", withoutRegions, kOfFile),
            Pass("fold-sizes", foldSizes, kOfFile)};
}

Result<void> check(const Graph& model)
{
    QS_CHECK(checkNoState(model));
    QS_TRY(const GraphPtr graph, runPasses(std::make_shared<const Graph>(model), formPasses()));
    QS_TRY(Interpreter interpreter, Interpreter::create(graph));
    OnnxNames names;
    return checkKnown(OnnxBuilder(graph, std::move(interpreter), names, kNewestOnnxOpset), model);
}

Result<OnnxModel> build(const Graph& reference, const OnnxOptions& options, const JobContext& job)
{
    QS_CHECK(checkOpset(options.opset));
    QS_CHECK(checkNoState(reference));
    const std::array weights {Pass("fold-weights", foldWeights)};
    QS_TRY(const GraphPtr folded,
           runPasses(std::make_shared<const Graph>(reference), weights, job));
    QS_TRY(const GraphPtr graph, runPasses(folded, formPasses(), job));
    QS_TRY(Interpreter interpreter, Interpreter::create(graph, {}, job));
    OnnxNames names;
    const auto made = makeFreedLater<OnnxBuilder>(graph, std::move(interpreter), names,
                                                  options.opset, options.target);
    OnnxBuilder& builder = *made;
    QS_CHECK(checkKnown(builder, *graph));
    for (const Node* input : graph->inputs()) {
        const std::string name = names.unique(input->target.empty() ? input->name : input->target);
        builder.bind({input->id, 0}, name);
        builder.addInput(OnnxBuilder::declared(name, input->outputs.at(0).type));
    }
    GraphOutputs outputs(builder, options.outputs.empty() ? outputNames(*graph) : options.outputs);
    for (const NamedArgument& output : graph->output().args)
        outputs.add(output.value);
    QS_CHECK(builder.run(job));
    QS_CHECK(builder.giveOutputs());
    OnnxModel model;
    model.opset = options.opset;
    model.metadata = metadataOf(*graph, options);
    model.graph = builder.take(graph->info().name.empty() ? "model" : graph->info().name);
    outputs.addNumbersTo(model.graph);
    if (options.target != OnnxTarget::TensorRt) // TensorRT has no operators on integers
        QS_CHECK(cutBytes(model.graph, job));
    if (options.target == OnnxTarget::OrtCpu)
        QS_CHECK(placeForOrt(model.graph, options.calibrated, job));
    if (options.target == OnnxTarget::TensorRt)
        QS_CHECK(checkTensorRt(OnnxView(model.graph)));
    return model;
}

} // namespace

Result<OnnxModel> onnxModel(const Graph& reference, const OnnxOptions& options,
                            const JobContext& job)
{
    const InferenceScope scope;
    return guardTorchValue<OnnxModel>([&] { return build(reference, options, job); });
}

Result<void> checkOnnxOperators(const Graph& model)
{
    const InferenceScope scope;
    return guardTorch([&] { return check(model); });
}

Result<void> writeOnnx(const Graph& reference, const std::string& path,
                       const std::string& finalPath, const OnnxOptions& options,
                       const JobContext& job)
{
    QS_TRY(OnnxModel made, onnxModel(reference, options, job));
    const auto model = makeFreedLater<OnnxModel>(std::move(made));
    QS_CHECK(job.check());
    return writeOnnxModel(*model, path, finalPath, options.inlineLimit, job);
}

} // namespace qs
