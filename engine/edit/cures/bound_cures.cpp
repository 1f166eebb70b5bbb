// SPDX-License-Identifier: Apache-2.0
#include "engine/base/text.h"
#include "engine/base/torch_guard.h"
#include "engine/edit/cures/cure_functions.h"
#include "engine/execute/tensor_store.h"
#include "engine/graph/argument_number.h"
#include "engine/graph/operators/operators.h"

#include <ATen/ATen.h>

#include <cmath>
#include <limits>

namespace qs {

namespace {

/// From this magnitude on a number means minus infinity: no score is as large.
constexpr double kMaskMagnitude = 1e9;

/// Returns the largest finite number of a floating-point type: `-torch.finfo(dtype).min`.
double largestOf(DType dtype)
{
    switch (dtype) {
    case DType::Float16:
        return 65504;
    case DType::Float64:
        return std::numeric_limits<double>::max();
    default: // bfloat16 has nearly the range of float32
        return std::numeric_limits<float>::max();
    }
}

/// Returns the minimum magnitude of a mask's constant of that type.
double leastMasked(DType dtype)
{
    return std::min(kMaskMagnitude, largestOf(dtype));
}

Result<EditedNodes> boundStored(EditDraft& draft, NodeId id, double bound)
{
    const Node& node = draft.graph().get(id);
    const auto store = tensorsOf(draft.graph());
    if (!store)
        return refuse(inQuotes(node.name) + " holds no tensor");
    QS_TRY(const at::IValue held, store->get(node.tensor));
    if (!held.isTensor() || !at::isFloatingType(held.toTensor().scalar_type()))
        return refuse(inQuotes(node.name) + " holds no real numbers, so it is not a mask");
    const at::Tensor tensor = held.toTensor();
    const at::Tensor magnitude = tensor.abs();
    const double least = leastMasked(node.outputs.at(0).type.dtype);
    const at::Tensor masked = magnitude.ge(least);
    if (!masked.any().item<bool>())
        return refuse(inQuotes(node.name)
                      + " is not a mask constant: none of its numbers is of magnitude 1e9 or more");
    const at::Tensor sign = at::where(tensor.lt(0), at::full({}, -bound, tensor.options()),
                                      at::full({}, bound, tensor.options()));
    return putTensor(draft, id, at::where(masked, sign, tensor).contiguous());
}

Result<EditedNodes> boundLiterals(EditDraft& draft, const Cure& cure, NodeId id)
{
    const Node& node = draft.graph().get(id);
    const ValueType& type = node.outputs.at(0).type;
    if (!type.mayBeFloat() || functionalFactsOf(node.target).clamp)
        return refuse(inQuotes(node.name) + " (" + node.target + ") fills in no mask constant");
    const double least = leastMasked(type.dtype);
    Json args = Json::object();
    for (const NamedArgument& argument : namedArguments(node))
        if (const auto number = numberOf(&argument.value); number && std::abs(*number) >= least)
            args[argument.name] = std::copysign(*cure.bound, *number);
    if (args.empty())
        return refuse(inQuotes(node.name) + " (" + node.target
                      + ") holds no mask constant: no number of magnitude 1e9 or more");
    EditStep step;
    step.kind = EditKind::Set;
    step.at = cure.at;
    step.json = args.dump();
    return applyEdit(draft, step);
}

} // namespace

Result<EditedNodes> boundConstant(EditDraft& draft, const Cure& cure)
{
    QS_TRY(const NodeId id, draft.node(cure.at));
    const DType dtype = draft.graph().get(id).outputs.at(0).type.dtype;
    if (leastMasked(dtype) <= *cure.bound)
        return refuse("the bound is not below the magnitude of a mask constant, "
                      + std::to_string(std::int64_t(leastMasked(dtype))));
    if (draft.graph().get(id).isOperator())
        return boundLiterals(draft, cure, id);
    const InferenceScope scope;
    return boundStored(draft, id, *cure.bound);
}

} // namespace qs
