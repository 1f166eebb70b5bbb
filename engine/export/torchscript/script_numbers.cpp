// SPDX-License-Identifier: Apache-2.0
#include "engine/export/torchscript/script_numbers.h"

#include "engine/execute/torch_types.h"

#include <torch/csrc/jit/ir/constants.h>
#include <torch/csrc/jit/ir/named_value.h>
#include <torch/csrc/jit/runtime/operator.h>

#include <algorithm>

namespace qs {

namespace {

bool takes(const c10::FunctionSchema& overload, const c10::FunctionSchema& schema,
           const std::vector<ScriptValue*>& inputs)
{
    std::vector<bool> given(overload.arguments().size(), false);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        const c10::Argument& meant = schema.arguments()[i];
        std::optional<int> place = int(i);
        if (meant.kwarg_only())
            place = overload.argumentIndexWithName(meant.name());
        if (!place || std::size_t(*place) >= given.size())
            return false;
        const c10::Argument& formal = overload.arguments()[std::size_t(*place)];
        if (formal.kwarg_only() != meant.kwarg_only()
            || !inputs[i]->type()->isSubtypeOf(*formal.type()))
            return false;
        given[std::size_t(*place)] = true;
    }
    for (std::size_t i = 0; i < given.size(); ++i)
        if (!given[i] && !overload.arguments()[i].default_value())
            return false;
    return true;
}

/// The element type of the operator's tensors, the first floating one before any other.
DType typeBeside(const Graph& graph, const Node& node)
{
    DType found = DType::Unknown;
    for (const NamedArgument& argument : node.args)
        forEachRef(argument.value, [&](ValueRef ref) {
            const ValueType& type = graph.value(ref).type;
            const bool better
                = found == DType::Unknown || (isFloating(type.dtype) && !isFloating(found));
            if (type.kind == ValueKind::Tensor && better)
                found = type.dtype;
        });
    return found;
}

bool isNumberSlot(const c10::Argument& slot)
{
    const auto optional = slot.type()->cast<c10::OptionalType>();
    const c10::TypePtr type = optional ? optional->getElementType() : slot.type();
    return type->kind() == c10::TypeKind::NumberType;
}

} // namespace

bool hasOverload(const c10::FunctionSchema& schema, const std::vector<ScriptValue*>& inputs)
{
    const auto& overloads
        = torch::jit::getAllOperatorsFor(c10::Symbol::fromQualString(schema.name()));
    return std::any_of(overloads.begin(), overloads.end(), [&](const auto& overload) {
        return takes(overload->schema(), schema, inputs);
    });
}

ScriptValue* tensorOfNumber(ScriptBuilder& builder, const Node& node, ScriptValue* number)
{
    const DType beside = typeBeside(builder.source(), node);
    const bool fraction = number->type()->kind() == c10::TypeKind::FloatType;
    const bool truth = number->type()->kind() == c10::TypeKind::BoolType;
    DType type = truth ? DType::Bool : fraction ? DType::Float32 : DType::Int64;
    if (!truth && (isFloating(beside) || (!fraction && isWholeNumber(beside))))
        type = beside;
    const at::ScalarType stored = toScalarType(type);
    if (const auto known = torch::jit::toIValue(number)) {
        const at::Scalar value = known->toScalar();
        return builder
            .literal( // by a tensor of the number's type: too large a number wraps, as in PyTorch
                at::scalar_tensor(value, at::TensorOptions(value.type())).to(stored));
    }
    using Named = torch::jit::NamedValue;
    return builder.body().insert(c10::Symbol::fromQualString("aten::tensor"), {Named(number)},
                                 {Named("dtype", builder.literal(std::int64_t(stored)))});
}

bool numbersOfTruth(ScriptBuilder& builder, const c10::FunctionSchema& schema,
                    std::vector<ScriptValue*>& inputs)
{
    bool any = false;
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        if (!isNumberSlot(schema.arguments()[i])
            || inputs[i]->type()->kind() != c10::TypeKind::BoolType)
            continue;
        const auto known = torch::jit::toIValue(inputs[i]);
        inputs[i] = known ? builder.literal(std::int64_t(known->toBool()))
                          : builder.call("aten::Int", {inputs[i]});
        any = true;
    }
    return any;
}

} // namespace qs
