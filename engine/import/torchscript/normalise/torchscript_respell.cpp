// SPDX-License-Identifier: Apache-2.0
#include "engine/execute/torch_types.h"
#include "engine/graph/operators/common_targets.h"
#include "engine/graph/operators/number_operators.h"
#include "engine/graph/operators/operators.h"
#include "engine/import/torchscript/normalise/torchscript_spelling.h"
#include "engine/import/torchscript/walk/torchscript_evaluator.h"

#include <algorithm>

namespace qs {

namespace {

/// Questions about a tensor's kind whose answer is the same wherever it is run here.
std::optional<at::IValue> tensorFact(c10::Symbol kind)
{
    if (hasTrait(kind.toQualString(), OperatorTrait::AnswersNo))
        return at::IValue(false);
    if (kind == c10::prim::device)
        return at::IValue(at::Device(at::kCPU)); // the device of a run takes its place
    if (kind == c10::prim::layout)
        return at::IValue(std::int64_t(at::kStrided));
    return std::nullopt;
}

/// Whether a value of the static type is surely, or surely not, one of the types.
std::optional<bool> isInstance(const ScriptItem& item, const c10::TypePtr& declared,
                               const std::vector<c10::TypePtr>& types)
{
    c10::TypePtr type = declared;
    if (const auto* value = knownValue(item))
        type = value->type();
    else if (const auto* held = containerOf(item))
        type = held->type;
    if (std::any_of(types.begin(), types.end(),
                    [&](const c10::TypePtr& wanted) { return type->isSubtypeOf(*wanted); }))
        return true;
    const auto kind = type->kind();
    if (kind == c10::TypeKind::AnyType || kind == c10::TypeKind::UnionType
        || kind == c10::TypeKind::OptionalType || kind == c10::TypeKind::NumberType)
        return std::nullopt;
    return false;
}

/// Whether an item is None, where that is known.
std::optional<bool> knownNone(const ScriptItem& item)
{
    if (const auto* value = knownValue(item))
        return value->isNone();
    const ScopedRef* made = runtimeValue(item);
    return made && made->maybeNone ? std::nullopt : std::optional(false);
}

/// Whether two items are one object, where that is known.
std::optional<bool> areSame(const ScriptItem& a, const ScriptItem& b)
{
    const auto first = knownNone(a), second = knownNone(b);
    if (!first || !second)
        return std::nullopt;
    return *first || *second ? *first == *second : sameItem(a, b);
}

} // namespace

/// Operators that a .pt2 spells otherwise or that can be answered without a node.
Result<ScriptAnswer> ScriptEvaluator::respell(const JitNode& node, const Items& args)
{
    if (const auto fact = layerFact(node, args))
        return ScriptAnswer(*fact);
    if (args.empty())
        return ScriptAnswer();
    const ScopedRef* made = runtimeValue(args[0]);
    const bool isTensor = made && valueOf(*made).type.kind == ValueKind::Tensor;
    const c10::TypePtr declared = node.input(0)->type();
    switch (node.kind()) {
    case c10::prim::isinstance: {
        const bool isSurely = isTensor && !made->maybeNone; // may be told better than its place
        const auto answer = isInstance(args[0], isSurely ? c10::TensorType::get() : declared,
                                       node.tys(c10::attr::types));
        if (!answer)
            return fail(unsupported(node, "asks for a type known only at run time"));
        return ScriptAnswer(at::IValue(*answer));
    }
    case c10::aten::__is__:
    case c10::aten::__isnot__:
        if (const auto same = areSame(args[0], args.at(1)))
            return ScriptAnswer(at::IValue(*same == (node.kind() == c10::aten::__is__)));
        break;
    case c10::prim::NumToTensor:
        return numberTensor(node, args[0],
                            declared->kind() == c10::TypeKind::FloatType      ? DType::Float64
                                : declared->kind() == c10::TypeKind::BoolType ? DType::Bool
                                                                              : DType::Int64);
    default:
        break;
    }
    QS_TRY(ScriptAnswer number, numberArithmetic(node, args));
    if (number || isTensor)
        return number ? Result<ScriptAnswer>(std::move(number)) : readTensor(node, *made, args);
    const c10::FunctionSchema* schema = node.maybeSchema();
    const std::string spelled = schema && node.outputs().size() == 1
        ? numberTarget(targetOf(schema->operator_name()))
        : std::string();
    if (spelled.empty())
        return ScriptAnswer();
    std::vector<NamedArgument> given;
    for (const ScriptItem& arg : args) {
        QS_TRY(Argument read, argument(arg, c10::NumberType::get()));
        given.push_back({"", std::move(read)});
    }
    return emitOne(spelled, std::move(given), runtimeType(node.output()->type()).kind, &node);
}

/// What is asked of a tensor.
Result<ScriptAnswer> ScriptEvaluator::readTensor(const JitNode& node, const ScopedRef& tensor,
                                                 const Items& args)
{
    const ValueType& type = valueOf(tensor).type;
    if (const auto fact = tensorFact(node.kind()))
        return ScriptAnswer(*fact);
    QS_TRY(const ValueRef self, m_scope->use(tensor));
    const bool isItem = node.kind() == c10::aten::item;
    switch (node.kind()) {
    case c10::aten::Int:
    case c10::aten::IntImplicit:
    case c10::aten::ScalarImplicit:
    case c10::aten::item:
        if (const auto number = m_numbers.find({tensor.scope, tensor.ref});
            number != m_numbers.end() && type.dtype == DType::Int64)
            return ScriptAnswer(number->second);
        // A program declares a number of any kind; the tensor tells which.
        if ((isItem || node.kind() == c10::aten::ScalarImplicit) && isWholeNumber(type.dtype))
            return emitOne(isItem ? "aten.item.default" : "aten.ScalarImplicit.default",
                           {{isItem ? "self" : "a", self}}, ValueKind::SymInt, &node);
        break;
    case c10::prim::dtype:
        if (type.dtype != DType::Unknown)
            return ScriptAnswer(at::IValue(std::int64_t(toScalarType(type.dtype))));
        break;
    case c10::aten::is_floating_point:
        if (type.dtype != DType::Unknown)
            return ScriptAnswer(at::IValue(isFloating(type.dtype)));
        break;
    case c10::aten::dim:
        if (const auto rank = decidableRank(args[0]))
            return ScriptAnswer(at::IValue(*rank));
        break;
    case c10::aten::size:
        if (args.size() == 2)
            return sizeOf(tensor, args[1], &node);
        break;
    case c10::aten::len:
        return sizeOf(tensor, at::IValue(std::int64_t(0)), &node);
    case c10::aten::to:
        return castTensor(node, self, args);
    default:
        break;
    }
    const std::string_view kind = node.kind().toQualString();
    if (kind == "aten::numel")
        return emitOne(kElementsTarget, {{"self", self}}, ValueKind::SymInt, &node);
    if (kind == "prim::data")
        return emitOne("aten.detach.default", {{"self", self}}, ValueKind::Tensor, &node);
    return ScriptAnswer();
}

/// aten::to.prim_* (self, [device,] dtype?, non_blocking, copy): what a device is, a run decides.
Result<ScriptAnswer> ScriptEvaluator::castTensor(const JitNode& node, ValueRef self,
                                                 const Items& args)
{
    const std::string& overload = node.schema().overload_name();
    if (overload == "prim_other")
        return ScriptAnswer(args[0]);
    const std::size_t place = overload == "prim_Device" ? 2 : 1;
    const auto* dtype = place < args.size() ? knownValue(args[place]) : nullptr;
    if (!overload.starts_with("prim_") || !dtype)
        return ScriptAnswer();
    if (dtype->isNone())
        return ScriptAnswer(args[0]);
    QS_TRY(Argument wanted, argument(args[place], c10::ScalarTypeType::get()));
    return emitOne(kCastTarget, {{"self", self}, {"dtype", std::move(wanted)}}, ValueKind::Tensor,
                   &node);
}

} // namespace qs
