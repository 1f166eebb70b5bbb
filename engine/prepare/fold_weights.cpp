// SPDX-License-Identifier: Apache-2.0
#include "engine/prepare/fold_weights.h"

#include "engine/execute/interpreter.h"
#include "engine/execute/replaced_tensors.h"
#include "engine/execute/tensor_store.h"
#include "engine/execute/value_conversion.h"
#include "engine/prepare/weighted_op.h"

namespace qs {

namespace {

Result<at::Tensor> computed(const Interpreter& interpreter, ValueRef weight)
{
    QS_TRY(const at::IValue value, interpreter.computeConstant(weight));
    if (!value.isTensor() || !value.toTensor().defined())
        return fail(ErrorCode::Internal, "its weight is not a tensor");
    return value.toTensor().contiguous();
}

/// Replaces the weight by a stored parameter in the layer's module, with the name of a plain
/// weight.
Result<void> foldWeight(GraphEdit& edit, const Interpreter& interpreter, NodeId layer,
                        const std::string& argument)
{
    const Node& owner = edit.get(layer);
    const WeightPath path = weightPath(edit, argumentRef(owner, argument));
    const Node source = edit.get(path.source.node);
    if (source.isStored())
        return {};
    QS_TRY(const at::Tensor tensor, computed(interpreter, path.source));
    const auto again = [interpreter, weight = path.source]() -> Result<at::IValue> {
        QS_TRY(const at::Tensor made, computed(interpreter, weight));
        return at::IValue(made);
    };
    Node node;
    node.kind = NodeKind::Parameter;
    node.name = source.name + "_folded";
    node.target = owner.scope.path.empty() ? argument : owner.scope.path + "." + argument;
    node.scope = owner.scope;
    node.tensor = tensorsOf(edit)->addDerived(again, tensor.nbytes());
    node.tensorSha256 = replacedTensorsBelow(edit, {path.source});
    node.outputs.push_back({"", typeOfTensor(tensor)});
    const NodeId made = edit.insertAfter(std::move(node), source.id);
    rerouteWeight(edit, layer, argument, path, {made, 0});
    return {};
}

} // namespace

Result<bool> foldWeights(GraphEdit& edit, const GraphPtr& model, const Plan& plan)
{
    std::optional<Interpreter> interpreter;
    for (const PlannedObserver& observer : plan.observers) {
        const Node* owner = observer.isWeight ? edit.tryGet(observer.weightOwner) : nullptr;
        const auto op = owner ? weightedOp(*owner) : std::nullopt;
        const ValueRef weight = op ? argumentRef(*owner, op->weight) : ValueRef {};
        if (!weight || !edit.get(weightPath(edit, weight).source.node).isOperator())
            continue;
        if (!interpreter) {
            QS_TRY(interpreter, Interpreter::create(model));
        }
        const std::string name = owner->name;
        if (auto done = foldWeight(edit, *interpreter, observer.weightOwner, op->weight); !done)
            return fail(std::move(done).error().atNode(name));
    }
    return interpreter.has_value();
}

} // namespace qs
