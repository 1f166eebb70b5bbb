// SPDX-License-Identifier: Apache-2.0
#include "engine/correct/correct_layers.h"

#include "engine/base/text.h"
#include "engine/base/torch_guard.h"
#include "engine/compare/output_run.h"
#include "engine/convert/given_numbers.h"
#include "engine/correct/layer_rows.h"
#include "engine/correct/round_weight.h"
#include "engine/edit/edit_draft.h"
#include "engine/io/npy_tensor.h"
#include "engine/prepare/weighted_op.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <limits>

namespace qs {

namespace {

constexpr std::int64_t kRowsPerInput = 16; ///< rows for each input of an output, over all samples
constexpr std::int64_t kLeastRows = 4096;

/// One form, stepped through with all batches at once.
class SteppedForm
{
public:
    static Result<SteppedForm> create(GraphPtr graph, const std::vector<Batch>& batches,
                                      const JobContext& job)
    {
        QS_TRY(Interpreter interpreter, Interpreter::create(std::move(graph), {}, job));
        SteppedForm form(std::move(interpreter));
        for (const Batch& batch : batches) {
            QS_TRY(Frame frame, startFrame(form.m_interpreter, batch.inputs, {}));
            form.m_frames.push_back(std::move(frame));
        }
        return form;
    }

    /// Runs every node before `end` that has not run.
    Result<void> advance(std::size_t end, const JobContext& job)
    {
        const auto nodes = m_interpreter.graph().nodes();
        for (; m_next < end; ++m_next) {
            QS_CHECK(job.check());
            const Node& node = *nodes[m_next];
            const bool runs = node.isOperator() && !m_interpreter.isConstant({node.id, 0});
            for (Frame& frame : m_frames) {
                const auto dead = m_interpreter.deadAfter(m_next);
                if (runs && !frame.has({node.id, 0}))
                    QS_CHECK(m_interpreter.runNode(node, frame, dead, job));
                for (const ValueRef ref : dead)
                    frame.release(ref);
            }
        }
        return {};
    }

    const Interpreter& interpreter() const { return m_interpreter; }
    std::vector<Frame>& frames() { return m_frames; }

private:
    explicit SteppedForm(Interpreter interpreter)
        : m_interpreter(std::move(interpreter))
    {
    }
    Interpreter m_interpreter;
    std::vector<Frame> m_frames; ///< one a batch
    std::size_t m_next = 0;
};

/// A layer with its quantized weight.
struct Layer
{
    NodeId node;
    ValueRef weight; ///< the float one, in the prepared graph
    const QParams* qparams = nullptr;
};

/// Corrects the layers of one model in graph order.
class LayerWalk
{
public:
    LayerWalk(const ConvertedModel& converted, const CorrectionOptions& options,
              SteppedForm forFloat, SteppedForm reference, const JobContext& job)
        : m_converted(converted)
        , m_options(options)
        , m_float(std::move(forFloat))
        , m_reference(std::move(reference))
        , m_edit(*converted.reference)
        , m_job(job)
    {
    }

    Result<Corrections> run()
    {
        std::vector<Layer> layers = findLayers();
        const Graph& prepared = *m_converted.prepared->graph;
        std::sort(layers.begin(), layers.end(), [&](const Layer& a, const Layer& b) {
            return prepared.position(a.node) < prepared.position(b.node);
        });
        for (std::size_t i = 0; i < layers.size(); ++i) {
            m_job.report("correct", prepared.get(layers[i].node).name,
                         double(i) / double(layers.size()));
            QS_CHECK(correct(layers[i]));
        }
        return std::move(m_made);
    }

private:
    std::vector<Layer> findLayers()
    {
        std::vector<Layer> found;
        const PreparedModel& prepared = *m_converted.prepared;
        for (const PlannedObserver& observer : prepared.plan->observers) {
            const auto qparams = m_converted.qparams.find(observer.id);
            const auto weight = prepared.observedWeight.find(observer.id);
            const bool isWanted = m_options.layers.empty()
                || std::find(m_options.layers.begin(), m_options.layers.end(), observer.weightOwner)
                    != m_options.layers.end();
            if (!observer.isWeight || !isWanted || !observer.interior.empty()
                || qparams == m_converted.qparams.end() || weight == prepared.observedWeight.end()
                || !m_converted.reference->tryGet(observer.weightOwner)
                || qparams->second.qscheme == QScheme::PerChannelAffineFloatQParams)
                continue;
            const auto op = weightedOp(prepared.graph->get(observer.weightOwner));
            if (op && op->kind != WeightedOp::Kind::Embedding)
                found.push_back({observer.weightOwner, weight->second, &qparams->second});
        }
        return found;
    }

    Result<void> correct(const Layer& layer)
    {
        const Graph& reference = *m_converted.reference;
        const Node& node = reference.get(layer.node);
        QS_TRY(const at::IValue stored, m_float.interpreter().constant(layer.weight));
        const at::Tensor& weight = stored.toTensor();
        const auto shape = layerShape(node, weight);
        if (!shape) {
            m_made.leftOut.push_back(shape.error().message);
            return {};
        }
        QS_CHECK(m_float.advance(m_converted.prepared->graph->position(layer.node) + 1, m_job));
        QS_CHECK(m_reference.advance(reference.position(layer.node), m_job));
        return guardTorch([&] { return choose(layer, *shape, weight); });
    }

    Result<void> choose(const Layer& layer, const LayerShape& shape, const at::Tensor& weight)
    {
        const Node& node = m_converted.reference->get(layer.node);
        const WeightedOp op = *weightedOp(node);
        const WeightPath path = weightPath(m_edit, argumentRef(node, op.weight));
        QS_TRY(const at::IValue now, m_reference.interpreter().constant(path.source));
        QS_TRY(const at::Tensor bias,
               biasOf(m_float.interpreter(), m_converted.prepared->graph->get(layer.node), op,
                      weight));
        QS_TRY(const at::Tensor added, biasOf(m_reference.interpreter(), node, op, weight));
        QS_TRY(const LayerSums sums, summed(node, op, shape, weight, bias));
        const LayerSums target = m_options.shift ? centred(sums) : sums;
        const at::Tensor was = groupedWeight(shape, now.toTensor());
        at::Tensor chosen = was;
        CorrectedLayer made;
        made.numbers.layer = layer.node;
        if (m_options.round)
            QS_CHECK(round(*layer.qparams, shape, weight, target, made, chosen));
        const double signal = std::max(sums.power, std::numeric_limits<double>::min());
        made.noiseBefore = errorPower(sums, was) / signal;
        made.noiseAfter = errorPower(target, chosen) / signal;
        at::Tensor shift = at::zeros_like(bias);
        if (m_options.shift) {
            const at::Tensor results = at::matmul(chosen, sums.inputs.unsqueeze(2)).squeeze(2);
            shift = (sums.outputs - results).flatten() / double(sums.rows) + bias - added;
            made.numbers.shift = npyFromTensor(kShiftArray, shift.to(at::kFloat).contiguous());
        }
        QS_CHECK(apply(node, op, path, chosen.reshape(weight.sizes()), shift));
        if (made.numbers.steps || made.numbers.shift)
            m_made.layers.push_back(std::move(made));
        return {};
    }

    /// Replaces `chosen` by better steps of the weight, or keeps it.
    Result<void> round(const QParams& qparams, const LayerShape& shape, const at::Tensor& weight,
                       const LayerSums& target, CorrectedLayer& made, at::Tensor& chosen)
    {
        const auto grouped = [&](const at::Tensor& numbers) {
            return groupedWeight(shape, numbers.expand_as(weight)).contiguous();
        };
        const at::Tensor zeros = zeroPointsFor(qparams, weight.sizes());
        const at::Tensor lowest = (qparams.quantMin - zeros).to(at::kFloat);
        const at::Tensor highest = (qparams.quantMax - zeros).to(at::kFloat);
        const WeightGrid grid {grouped(weight), grouped(scalesFor(qparams, weight.sizes())),
                               grouped(lowest), grouped(highest)};
        QS_TRY(const at::Tensor steps, roundWeight(grid, target, m_job));
        const at::Tensor rounded = steps * grid.scale;
        if (errorPower(target, rounded) >= errorPower(target, chosen))
            return {}; // damping may lead away
        chosen = rounded;
        const bool fitsByte = steps.min().item<float>() >= -128 && steps.max().item<float>() <= 127;
        made.numbers.steps = npyFromTensor(
            kStepsArray,
            steps.reshape(weight.sizes()).to(fitsByte ? at::kChar : at::kShort).contiguous());
        made.numbers.scales = npyFrom(kScalesArray, qparams.scale);
        return {};
    }

    /// The layer's bias in one form; zeros without one.
    static Result<at::Tensor> biasOf(const Interpreter& form, const Node& node,
                                     const WeightedOp& op, const at::Tensor& weight)
    {
        const ValueRef bias = argumentRef(node, op.bias);
        if (!bias)
            return at::zeros({weight.size(0)});
        QS_TRY(const at::IValue held, form.constant(bias));
        return held.toTensor().to(at::kFloat);
    }

    Result<LayerSums> summed(const Node& node, const WeightedOp& op, const LayerShape& shape,
                             const at::Tensor& weight, const at::Tensor& bias)
    {
        LayerSums sums;
        const std::int64_t inputs = weight.numel() / weight.size(0);
        const auto batches = std::int64_t(m_float.frames().size());
        const std::int64_t most
            = (std::max(kLeastRows, kRowsPerInput * inputs) + batches - 1) / batches;
        const ValueRef input = argumentRef(node, op.input);
        for (std::size_t b = 0; b < m_float.frames().size(); ++b) {
            QS_CHECK(m_job.check());
            QS_TRY(const at::IValue x,
                   valueOf(m_reference.interpreter(), m_reference.frames()[b], input));
            QS_TRY(const at::IValue y,
                   valueOf(m_float.interpreter(), m_float.frames()[b], {node.id, 0}));
            const LayerRows rows = layerRows(shape, weight, x.toTensor(), y.toTensor(), most);
            addRows(sums, rows.inputs, rows.outputs - bias.reshape({shape.groups, 1, -1}));
        }
        return sums;
    }

    /// Runs the layer in the reference form with the chosen weight, and adds the shift.
    Result<void> apply(const Node& node, const WeightedOp& op, const WeightPath& path,
                       const at::Tensor& weight, const at::Tensor& shift)
    {
        const Interpreter& form = m_reference.interpreter();
        Frame turned;
        turned.set(path.source, weight);
        for (const NodeId id : path.layout)
            QS_CHECK(form.runNode(m_converted.reference->get(id), turned));
        const ValueRef read = argumentRef(node, op.weight);
        const bool isLinear = op.kind == WeightedOp::Kind::Linear;
        for (Frame& frame : m_reference.frames()) {
            frame.set(read, turned.get(read));
            QS_CHECK(form.runNode(node, frame));
            frame.release(read);
            const at::Tensor made = frame.get({node.id, 0}).toTensor();
            std::vector<std::int64_t> along(std::size_t(made.dim()), 1);
            along[along.size() - (isLinear ? 1 : std::size_t(weight.dim()) - 1)] = -1;
            frame.set({node.id, 0}, made + shift.reshape(along));
        }
        return {};
    }

    const ConvertedModel& m_converted;
    const CorrectionOptions& m_options;
    SteppedForm m_float, m_reference;
    GraphEdit m_edit; ///< of the reference form, to follow weights
    const JobContext& m_job;
    Corrections m_made;
};

Result<std::vector<Batch>> takeBatches(const Dataset& data, std::int64_t samples)
{
    std::vector<Batch> batches;
    std::int64_t taken = 0;
    for (std::int64_t i = 0; i < data.batchCount() && taken < samples; ++i) {
        QS_TRY(Batch batch, data.batch(i));
        taken += std::max<std::int64_t>(1, batch.samples);
        batches.push_back(std::move(batch));
    }
    return batches;
}

} // namespace

Result<Corrections> correctLayers(const ConvertedModel& converted, const Dataset& data,
                                  const CorrectionOptions& options, const JobContext& job)
{
    if (data.isSequence())
        return fail(ErrorCode::Unsupported,
                    "weights are not rounded over a sequence, whose batches depend on each other");
    const InferenceScope scope;
    QS_TRY(const std::vector<Batch> batches, takeBatches(data, options.samples));
    QS_TRY(SteppedForm forFloat, SteppedForm::create(converted.prepared->graph, batches, job));
    QS_TRY(SteppedForm reference, SteppedForm::create(converted.reference, batches, job));
    return LayerWalk(converted, options, std::move(forFloat), std::move(reference), job).run();
}

} // namespace qs
