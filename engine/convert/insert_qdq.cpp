// SPDX-License-Identifier: Apache-2.0
#include "engine/convert/insert_qdq.h"

#include "engine/base/memory/free_later.h"
#include "engine/convert/given_numbers.h"
#include "engine/convert/module_forms.h"
#include "engine/convert/quantize_weights.h"
#include "engine/execute/interpreter.h"
#include "engine/execute/tensor_store.h"
#include "engine/graph/operators/engine_ops.h"
#include "engine/graph/operators/quantized_target.h"
#include "engine/plan/cures/layer_numbers.h"
#include "engine/prepare/fuse_conv_bn.h"
#include "engine/prepare/weighted_op.h"

namespace qs {

namespace {

constexpr std::size_t kReportEvery = 1000; ///< nodes

const PlannedObserver* findObserver(const Plan& plan, ObserverId id)
{
    // Ids are positions counted from 1, except in plans made by hand.
    if (const std::size_t at = id.value() - 1;
        at < plan.observers.size() && plan.observers[at].id == id)
        return &plan.observers[at];
    for (const PlannedObserver& observer : plan.observers)
        if (observer.id == id)
            return &observer;
    return nullptr;
}

/// Whether a node is an observer, or marks a value that was observed inside a custom module.
bool isObserver(const Node& node)
{
    return node.isOp(kObserveTarget) || node.isOp(kStubTarget);
}

/// Inserts choose_qparams, quantize and dequantize with parameters chosen at run time.
ValueRef insertDynamicPair(GraphEdit& edit, const Node& observer, ValueRef value,
                           const ObserverSpec& spec, bool reduceRange)
{
    const DType stored = storageDType(spec.dtype);
    // As in torch.ao, over the full range of the type, independent of the observer's range.
    const QuantRange range = storageRange(spec.dtype);
    const std::int64_t half = reduceRange ? 2 : 1;
    const ValueType type = observer.outputs.at(0).type;
    const auto add = [&](Node node) {
        node.scope = observer.scope;
        node.origin = observer.origin;
        return edit.insert(std::move(node), observer.id);
    };
    Node choose;
    choose.name = "choose_qparams";
    choose.target = isSymmetric(spec.qscheme) ? kChooseSymmetric : kChooseQParams;
    choose.args = {{"input", value},
                   {"quant_min", std::int64_t(range.min) / half},
                   {"quant_max", std::int64_t(range.max) / half},
                   {"eps", spec.eps},
                   {"dtype", stored}};
    ValueType one;
    one.shapeKnown = true;
    one.shape = {Dim::fixed(1)};
    one.dtype = DType::Float64;
    choose.outputs.push_back({"dynamic_scale", one});
    one.dtype = DType::Int64;
    choose.outputs.push_back({"dynamic_zero_point", one});
    const NodeId chosen = add(std::move(choose));

    std::vector<NamedArgument> shared {{"scale", ValueRef {chosen, 0}},
                                       {"zero_point", ValueRef {chosen, 1}},
                                       {"quant_min", std::int64_t(range.min)},
                                       {"quant_max", std::int64_t(range.max)},
                                       {"dtype", stored}};
    Node quantize;
    quantize.name = "quantize_per_tensor";
    quantize.target = kQuantizeOfMoment;
    quantize.args = shared;
    quantize.args.insert(quantize.args.begin(), {"input", value});
    quantize.outputs.push_back({"", type});
    quantize.outputs[0].type.dtype = stored;
    const NodeId q = add(std::move(quantize));

    Node dequantize;
    dequantize.name = "dequantize_per_tensor";
    dequantize.target = kDequantizeOfMoment;
    dequantize.args = std::move(shared);
    dequantize.args.insert(dequantize.args.begin(), {"input", ValueRef {q, 0}});
    dequantize.outputs.push_back({"", type});
    return {add(std::move(dequantize)), 0};
}

/// Replaces an observer by its pair, or removes it. Returns the value that its readers read then.
Result<ValueRef> replaceObserver(GraphEdit& edit, const ConvertedModel& model, NodeId id,
                                 bool reduceRange, Saturation saturation)
{
    const Node observer = edit.get(id);
    const ValueRef input = *observer.args.at(0).value.asRef();
    const PlannedObserver* planned = findObserver(*model.prepared->plan, observer.observer);
    ValueRef output = input;
    const auto it = model.qparams.find(observer.observer);
    const bool integer = planned && storageDType(planned->spec.dtype) != DType::Unknown;
    if (integer && planned->spec.isDynamic) {
        output = insertDynamicPair(edit, observer, input, planned->spec, reduceRange);
    } else if (planned && planned->spec.dtype == DType::Float16) {
        output = insertHalfPair(edit, input, id, observer.origin);
    } else if (integer && it != model.qparams.end()) {
        QS_TRY(output, insertQdqPair(edit, input, it->second, {id, observer.origin}, saturation));
    }
    edit.replaceUses({id, 0}, output);
    edit.erase(id);
    return output;
}

/// Index of the argument through which `owner` reads the weight; -1 if it does not.
int argumentReading(const GraphEdit& edit, const Node& owner, ValueRef weight)
{
    for (std::size_t a = 0; a < owner.args.size(); ++a) {
        bool reads = false;
        forEachRef(owner.args[a].value,
                   [&](ValueRef ref) { reads = reads || weightPath(edit, ref).source == weight; });
        if (reads)
            return int(a);
    }
    return -1;
}

const LayerNumbers* numbersOf(const Plan& plan, NodeId layer)
{
    for (const auto& numbers : plan.numbers)
        if (numbers->layer == layer)
            return numbers.get();
    return nullptr;
}

/// The weight on the steps that a cure gives, or the weight itself. Then corrects the bias.
ValueRef takeNumbers(GraphEdit& edit, ConvertedModel& model, const PlannedObserver& observer,
                     ValueRef weight)
{
    const LayerNumbers* numbers = numbersOf(*model.prepared->plan, observer.weightOwner);
    const auto qparams = model.qparams.find(observer.id);
    if (!numbers || qparams == model.qparams.end())
        return weight;
    if (numbers->shift) {
        const auto was = shiftBias(edit, observer.weightOwner, *numbers);
        if (was)
            model.correctedBiases[observer.weightOwner] = *was;
        else
            model.unfitNumbers.push_back(was.error().line());
    }
    if (!numbers->steps)
        return weight;
    const auto rounded = addRoundedWeight(edit, weight, qparams->second, *numbers);
    if (!rounded) {
        model.unfitNumbers.push_back(rounded.error().line());
        return weight;
    }
    model.roundedFrom[*rounded] = weight;
    return *rounded;
}

/// `first`: the graph's first operator, before and after.
Result<void> quantizeWeight(GraphEdit& edit, ConvertedModel& model, const PlannedObserver& observer,
                            Saturation saturation, NodeId& first)
{
    const auto qparams = model.qparams.find(observer.id);
    const auto value = model.prepared->observedWeight.find(observer.id);
    const Node* owner = edit.tryGet(observer.weightOwner);
    const bool half = observer.spec.dtype == DType::Float16;
    if ((qparams == model.qparams.end() && !half) || value == model.prepared->observedWeight.end()
        || !owner)
        return {};
    const int argument = argumentReading(edit, *owner, value->second);
    if (argument < 0)
        return fail(makeError(ErrorCode::Internal, "the observed weight is not this layer's")
                        .atNode(owner->name));
    const bool inList = owner->args[std::size_t(argument)].value.asList() != nullptr;
    const std::string name = owner->args[std::size_t(argument)].name;
    const WeightPath path
        = inList ? WeightPath {value->second, {}} : weightPath(edit, argumentRef(*owner, name));
    const NodeId before = path.layout.empty() ? owner->id : path.layout.front();
    ValueRef dequantized;
    if (half)
        dequantized = insertHalfPair(edit, path.source, before, owner->id);
    else {
        QS_TRY(dequantized,
               insertQdqPair(edit, takeNumbers(edit, model, observer, path.source), qparams->second,
                             {before, owner->id, first}, saturation));
    }
    if (before == first)
        first = firstOperator(edit);
    if (inList)
        edit.replaceArgument(owner->id, std::size_t(argument), path.source, dequantized);
    else
        rerouteWeight(edit, owner->id, name, path, dequantized);
    return {};
}

/// Maps observed values of the prepared graph to the values that ordinary readers read instead of
/// the observer's output.
ValueMap seenByReaders(const ConvertedModel& model,
                       const std::unordered_map<NodeId, ValueRef>& replaced)
{
    ValueMap seen;
    const Graph& prepared = *model.prepared->graph;
    for (const PlannedObserver& observer : model.prepared->plan->observers)
        for (const ObservedEdge& edge : observer.edges) {
            const auto value = model.prepared->valueOf.find(edge.value);
            if (!edge.readers.empty() || value == model.prepared->valueOf.end())
                continue;
            for (const Use& use : prepared.users(value->second))
                if (isObserver(prepared.get(use.node))
                    && prepared.get(use.node).observer == observer.id)
                    seen[value->second] = replaced.at(use.node);
        }
    return seen;
}

} // namespace

Result<void> buildReference(ConvertedModel& model, bool reduceRange, const JobContext& job,
                            Saturation saturation)
{
    const Graph& prepared = *model.prepared->graph;
    const auto draft = makeFreedLater<GraphEdit>(prepared);
    GraphEdit& edit = *draft;
    edit.setTensors(TensorStore::over(tensorsOf(prepared)));
    std::unordered_map<NodeId, ValueRef> replaced; // observer to its replacement
    std::size_t done = 0;
    for (const NodePtr& node : prepared.nodes()) {
        QS_CHECK(job.check());
        if (++done % kReportEvery == 0)
            job.report("convert", "reference form",
                       0.1 + 0.2 * double(done) / double(prepared.nodes().size()));
        if (!isObserver(*node))
            continue;
        QS_TRY(const ValueRef output,
               replaceObserver(edit, model, node->id, reduceRange, saturation));
        replaced[node->id] = output;
    }
    NodeId first = firstOperator(edit);
    for (const PlannedObserver& observer : model.prepared->plan->observers) {
        QS_CHECK(job.check());
        if (observer.isWeight)
            QS_CHECK(quantizeWeight(edit, model, observer, saturation, first));
    }
    quantizeModuleBodies(edit, model, saturation);
    const ValueMap seen = seenByReaders(model, replaced);
    QS_CHECK(job.check());
    edit.eraseDead();
    QS_CHECK(job.check());
    auto graph = std::make_shared<const Graph>(edit.build());
    QS_CHECK(job.check());
    for (const auto& [floatValue, value] : model.prepared->valueOf) {
        if (!graph->tryGet(value.node))
            continue;
        model.rawValueOf[floatValue] = value;
        const auto it = seen.find(value);
        model.referenceValueOf[floatValue]
            = it != seen.end() && graph->tryGet(it->second.node) ? it->second : value;
    }
    model.reference = std::move(graph);
    return {};
}

} // namespace qs
