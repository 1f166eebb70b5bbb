// SPDX-License-Identifier: Apache-2.0
#include "engine/export/forms/fold_weights.h"

#include "engine/base/memory/free_later.h"
#include "engine/base/torch_guard.h"
#include "engine/execute/interpreter.h"
#include "engine/execute/tensor_store.h"
#include "engine/execute/value_conversion.h"
#include "engine/graph/graph_edit.h"
#include "engine/graph/operators/common_targets.h"
#include "engine/graph/operators/quantized_target.h"

#include <algorithm>

namespace qs {

namespace {

bool isQuantize(const Node& node)
{
    return node.kind == NodeKind::Op && isQuantizeStep(node.target);
}

bool isDequantize(const Node& node)
{
    return node.kind == NodeKind::Op && isDequantizeStep(node.target);
}

const ValueRef* inputOf(const Node& node)
{
    const Argument* input = node.tryArg(std::size_t(0));
    return input ? input->asRef() : nullptr;
}

/// Whether `quantize` returns exactly the integers that `dequantize` read: same parameters, and no
/// rounding in between.
bool undoes(const Node& quantize, const Node& dequantize)
{
    if (dequantizeTargetOf(quantize.target) != dequantize.target)
        return false;
    if (const Argument* type = dequantize.tryArg("out_dtype");
        type && !type->isNone() && !(type->asDType() && *type->asDType() == DType::Float32))
        return false;
    return std::all_of(quantize.args.begin() + 1, quantize.args.end(), [&](const auto& arg) {
        const Argument* other = dequantize.tryArg(arg.name);
        return other && *other == arg.value;
    });
}

/// Makes the consumers of a step without effect read the step's input.
void removeUndone(GraphEdit& edit)
{
    for (const NodeId id : edit.order()) {
        const Node& node = edit.get(id);
        const ValueRef* input = isQuantize(node) ? inputOf(node) : nullptr;
        const Node* before = input ? edit.tryGet(input->node) : nullptr;
        if (!before || !isDequantize(*before) || !inputOf(*before) || !undoes(node, *before))
            continue;
        edit.replaceUses({id, 0}, *inputOf(*before));
    }
}

/// The parameter at the start of the operators that end in `node`.
const Node* parameterOf(const GraphEdit& edit, const Node& node)
{
    const Node* at = &node;
    while (at && at->kind == NodeKind::Op) {
        const ValueRef* input = inputOf(*at);
        at = input ? edit.tryGet(input->node) : nullptr;
    }
    return at && at->kind == NodeKind::Parameter ? at : nullptr;
}

/// A parameter that holds the integers, under the name of the weight it came from.
Node integerParameter(GraphEdit& edit, const Node& quantize, const at::Tensor& integers)
{
    const Node* weight = parameterOf(edit, quantize);
    Node node;
    node.kind = weight ? weight->kind : NodeKind::Constant;
    node.name = (weight ? weight->name : quantize.name) + "_quantized";
    node.target = weight ? weight->target : quantize.name;
    node.scope = weight ? weight->scope : quantize.scope;
    node.isBuffer = weight && weight->isBuffer;
    node.persistentBuffer = weight && weight->persistentBuffer;
    node.origin = weight && weight->origin ? weight->origin : weight ? weight->id : quantize.origin;
    node.tensor = tensorsOf(edit)->add(integers.contiguous());
    node.outputs.push_back({"", typeOfTensor(integers)});
    return node;
}

bool castsTo(const Node& node, DType dtype)
{
    const Argument* wanted = node.isOp(kCastTarget) ? node.tryArg("dtype") : nullptr;
    return wanted && wanted->asDType() && *wanted->asDType() == dtype;
}

/// The operator that makes the storable form of a weight: the integers that a dequantize reads (of
/// a quantize, or of the cast that ends the elementwise spelling of one), or the half floats that a
/// cast widens. Invalid for other nodes.
NodeId storedForm(const Graph& reference, const Node& node)
{
    const ValueRef* input
        = isDequantize(node) || castsTo(node, DType::Float32) ? inputOf(node) : nullptr;
    const Node* maker = input ? reference.tryGet(input->node) : nullptr;
    if (!maker || maker->kind != NodeKind::Op)
        return {};
    return isDequantize(node) || castsTo(*maker, DType::Float16) ? maker->id : NodeId {};
}

Result<void> foldIntegers(GraphEdit& edit, const Graph& reference, const Interpreter& interpreter,
                          const JobContext& job)
{
    NodeId firstOp;
    for (const NodePtr& node : reference.nodes())
        if (!firstOp && node->kind == NodeKind::Op)
            firstOp = node->id;
    for (const NodePtr& node : reference.nodes()) {
        QS_CHECK(job.check());
        const NodeId made = storedForm(reference, *node);
        if (!made || !edit.contains(made) || !interpreter.isConstant({made, 0}))
            continue;
        const Node& integerNode = reference.get(made);
        QS_TRY(const at::IValue integers, interpreter.constant({made, 0}));
        const NodeId held
            = edit.insert(integerParameter(edit, integerNode, integers.toTensor()), firstOp);
        edit.replaceUses({made, 0}, {held, 0});
    }
    return {};
}

/// Removes nodes that lost their last consumer, including float weights that became integers. Nodes
/// that the model itself never read stay.
void removeReplaced(GraphEdit& edit, const Graph& reference)
{
    const auto order = edit.order();
    for (auto id = order.rbegin(); id != order.rend(); ++id) {
        const Node& node = edit.get(*id);
        const bool removable = node.kind == NodeKind::Op || node.isStored();
        bool read = node.outputs.empty();
        for (std::uint32_t i = 0; i < node.outputs.size(); ++i)
            read = read || !edit.users({*id, i}).empty();
        const bool wasRead = reference.tryGet(*id) && reference.userCount(*id) > 0;
        if (removable && !read && (wasRead || isQuantize(node) || isDequantize(node)))
            edit.erase(*id);
    }
}

Result<Graph> fold(const Graph& reference, const JobContext& job)
{
    QS_TRY(const Interpreter interpreter,
           Interpreter::create(std::make_shared<const Graph>(reference), {}, job));
    const auto draft = makeFreedLater<GraphEdit>(reference);
    GraphEdit& edit = *draft;
    edit.setTensors(TensorStore::over(tensorsOf(reference)));
    QS_CHECK(foldIntegers(edit, reference, interpreter, job));
    removeUndone(edit);
    QS_CHECK(job.check());
    removeReplaced(edit, reference);
    QS_CHECK(job.check());
    return edit.build();
}

} // namespace

Result<Graph> foldWeights(const Graph& reference, const JobContext& job)
{
    const InferenceScope scope;
    return guardTorchValue<Graph>([&] { return fold(reference, job); });
}

} // namespace qs
