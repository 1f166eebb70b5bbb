// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/operators/common_targets.h"
#include "engine/graph/operators/number_operators.h"
#include "engine/import/torchscript/walk/torchscript_evaluator.h"

#include <torch/csrc/jit/ir/constants.h>

#include <algorithm>
#include <array>

namespace qs {

namespace {

/// The number that a trace wrote as a constant tensor without dimensions; none for other values.
std::optional<at::IValue> tracedNumber(const torch::jit::Value& value)
{
    const auto constant = torch::jit::toIValue(&value);
    if (!constant || !constant->isTensor())
        return std::nullopt;
    const at::Tensor& tensor = constant->toTensor();
    if (!tensor.defined() || tensor.dim() > 0 || !tensor.is_cpu())
        return std::nullopt;
    if (tensor.scalar_type() == at::kDouble)
        return at::IValue(tensor.item<double>());
    if (tensor.scalar_type() == at::kLong)
        return at::IValue(tensor.item<std::int64_t>());
    return std::nullopt;
}

} // namespace

/// Python's numbers in `x * 0.7` are tensors in a trace: numbers again, as LibTorch's own runs take
/// them. It leaves alone what divides and rounds down, where only whole numbers make no difference.
void ScriptEvaluator::respellNumber(const JitNode& node, Items& args) const
{
    static constexpr std::array<std::string_view, 4> kTakeNumbers {"aten::add", "aten::sub",
                                                                   "aten::mul", "aten::div"};
    std::string_view kind = node.kind().toQualString();
    kind.remove_suffix(kind.ends_with('_') ? 1 : 0);
    const bool takesAny
        = std::find(kTakeNumbers.begin(), kTakeNumbers.end(), kind) != kTakeNumbers.end();
    const c10::FunctionSchema* schema = node.maybeSchema();
    if ((!takesAny && kind != "aten::floor_divide") || !schema || args.size() < 2
        || schema->arguments()[1].type()->kind() != c10::TypeKind::TensorType
        || !runtimeValue(args[0]))
        return;
    auto number = tracedNumber(*node.input(1));
    if (number && (takesAny || number->isInt()))
        args[1] = std::move(*number);
}

/// A tensor of one number; who asks it for the number gets `number`.
Result<ScriptAnswer> ScriptEvaluator::numberTensor(const JitNode& node, const ScriptItem& number,
                                                   DType dtype)
{
    QS_TRY(Argument value, argument(number, c10::NumberType::get()));
    const ScopedRef made = emitOne(kScalarTensorTarget, {{"s", std::move(value)}, {"dtype", dtype}},
                                   ValueKind::Tensor, &node);
    m_numbers[{made.scope, made.ref}] = number;
    setRank(made, 0);
    return made;
}

/// The whole number that an operand of a trace's arithmetic stands for; none for a real tensor.
std::optional<ScriptItem> ScriptEvaluator::wholeNumber(const JitValue& value,
                                                       const ScriptItem& item) const
{
    if (const auto* known = knownValue(item))
        return known->isInt() ? std::optional(item) : std::nullopt;
    const ScopedRef* made = runtimeValue(item);
    if (!made)
        return std::nullopt;
    if (const auto held = m_numbers.find({made->scope, made->ref}); held != m_numbers.end())
        return valueOf(*made).type.dtype == DType::Int64 ? std::optional(held->second)
                                                         : std::nullopt;
    const auto constant = tracedNumber(value);
    return constant && constant->isInt() ? std::optional(ScriptItem(*constant)) : std::nullopt;
}

/// A trace computes sizes with tensors of one number: Python's operator on the numbers, as the
/// other spellings have it. Nothing for any other node.
Result<ScriptAnswer> ScriptEvaluator::numberArithmetic(const JitNode& node, const Items& args)
{
    const ScriptAnswer none;
    const std::string spelled = numberTargetOfTensors(node.kind().toQualString());
    if (spelled.empty() || args.size() < 2 || args.size() > 3
        || node.output()->type()->kind() != c10::TypeKind::TensorType)
        return none;
    const auto* alpha = args.size() == 3 ? knownValue(args[2]) : nullptr;
    if (args.size() == 3 && !(alpha && alpha->isInt() && alpha->toInt() == 1))
        return none;
    const auto a = wholeNumber(*node.input(0), args[0]);
    const auto b = wholeNumber(*node.input(1), args[1]);
    if (!a || !b || (!runtimeValue(*a) && !runtimeValue(*b)))
        return none;
    QS_TRY(Argument left, argument(*a, c10::NumberType::get()));
    QS_TRY(Argument right, argument(*b, c10::NumberType::get()));
    const ScopedRef number = emitOne(spelled, {{"", std::move(left)}, {"", std::move(right)}},
                                     ValueKind::SymInt, &node);
    return numberTensor(node, number, DType::Int64);
}

} // namespace qs
