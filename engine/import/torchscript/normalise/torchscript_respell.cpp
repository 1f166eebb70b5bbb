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
Result<bool> ScriptEvaluator::respell(const JitNode& node, const Items& args, Env& env)
{
    const std::string kind = node.kind().toQualString();
    const auto bind = [&](ScriptItem value) {
        env[node.output()] = std::move(value);
        return true;
    };
    if (node.kind() == c10::prim::isinstance) {
        const ScopedRef* made = runtimeValue(args.at(0)); // may be told better than its place
        const bool isTensor
            = made && !made->maybeNone && valueOf(*made).type.kind == ValueKind::Tensor;
        const auto answer
            = isInstance(args.at(0), isTensor ? c10::TensorType::get() : node.input(0)->type(),
                         node.tys(c10::attr::types));
        if (!answer)
            return fail(unsupported(node, "asks for a type known only at run time"));
        return bind(at::IValue(*answer));
    }
    if (node.kind() == c10::aten::__is__ || node.kind() == c10::aten::__isnot__)
        if (const auto same = areSame(args.at(0), args.at(1)))
            return bind(at::IValue(*same == (node.kind() == c10::aten::__is__)));
    if (const auto fact = layerFact(node, args))
        return bind(*fact);
    const ScopedRef* tensor = args.empty() ? nullptr : runtimeValue(args[0]);
    const bool onTensor = tensor && valueOf(*tensor).type.kind == ValueKind::Tensor;
    if (node.kind() == c10::prim::NumToTensor) {
        const auto held = node.input(0)->type()->kind();
        QS_TRY(env[node.output()],
               numberTensor(node, args.at(0),
                            held == c10::TypeKind::FloatType      ? DType::Float64
                                : held == c10::TypeKind::BoolType ? DType::Bool
                                                                  : DType::Int64));
        return true;
    }
    QS_TRY(const auto number, numberArithmetic(node, args));
    if (number)
        return bind(*number);
    if (!onTensor) {
        const c10::FunctionSchema* schema = node.maybeSchema();
        const std::string spelled = schema && node.outputs().size() == 1
            ? numberTarget(targetOf(schema->operator_name()))
            : std::string();
        if (spelled.empty())
            return false;
        std::vector<NamedArgument> given;
        for (const ScriptItem& arg : args) {
            QS_TRY(Argument read, argument(arg, c10::NumberType::get()));
            given.push_back({"", std::move(read)});
        }
        return bind(
            emitOne(spelled, std::move(given), runtimeType(node.output()->type()).kind, &node));
    }
    return respellTensorRead(node, args, env);
}

/// What is asked of a tensor.
Result<bool> ScriptEvaluator::respellTensorRead(const JitNode& node, const Items& args, Env& env)
{
    const std::string kind = node.kind().toQualString();
    const auto bind = [&](ScriptItem value) {
        env[node.output()] = std::move(value);
        return true;
    };
    const ScopedRef* tensor = runtimeValue(args[0]);
    const ValueType& type = valueOf(*tensor).type;
    if (const auto number = m_numbers.find({tensor->scope, tensor->ref}); number != m_numbers.end()
        && (kind == "aten::Int" || kind == "aten::IntImplicit" || kind == "aten::ScalarImplicit"
            || kind == "aten::item")
        && type.dtype == DType::Int64)
        return bind(number->second);
    if (const auto fact = tensorFact(node.kind()))
        return bind(*fact);
    if (node.kind() == c10::prim::dtype && type.dtype != DType::Unknown)
        return bind(at::IValue(std::int64_t(toScalarType(type.dtype))));
    if (kind == "aten::is_floating_point" && type.dtype != DType::Unknown)
        return bind(at::IValue(isFloating(type.dtype)));
    if (kind == "aten::dim") {
        if (const auto rank = decidableRank(args[0]))
            return bind(at::IValue(*rank));
    }
    if (kind == "aten::size" && args.size() == 2) {
        QS_TRY(env[node.output()], sizeOf(*tensor, args[1], &node));
        return true;
    }
    if (kind == "aten::len") {
        QS_TRY(env[node.output()], sizeOf(*tensor, at::IValue(std::int64_t(0)), &node));
        return true;
    }
    QS_TRY(const ValueRef self, m_scope->use(*tensor));
    if (kind == "aten::numel")
        return bind(emitOne(kElementsTarget, {{"self", self}}, ValueKind::SymInt, &node));
    // A program declares a number of any kind; the tensor tells which.
    if ((kind == "aten::ScalarImplicit" || kind == "aten::item") && isWholeNumber(type.dtype))
        return bind(
            emitOne(kind == "aten::item" ? "aten.item.default" : "aten.ScalarImplicit.default",
                    {{kind == "aten::item" ? "self" : "a", self}}, ValueKind::SymInt, &node));
    if (kind == "prim::data")
        return bind(emitOne("aten.detach.default", {{"self", self}}, ValueKind::Tensor, &node));
    const c10::FunctionSchema* schema = node.maybeSchema();
    const std::string overload = schema ? schema->overload_name() : "";
    if (kind == "aten::to" && overload.starts_with("prim_")) {
        // (self, [device,] dtype?, non_blocking, copy): what a device is, a run decides.
        const std::size_t at = overload == "prim_Device" ? 2 : 1;
        const auto* dtype = at < args.size() ? knownValue(args[at]) : nullptr;
        if (overload == "prim_other" || !dtype)
            return overload == "prim_other" ? bind(args[0]) : Result<bool>(false);
        if (dtype->isNone())
            return bind(args[0]);
        QS_TRY(Argument wanted, argument(args[at], c10::ScalarTypeType::get()));
        return bind(emitOne(kCastTarget, {{"self", self}, {"dtype", std::move(wanted)}},
                            ValueKind::Tensor, &node));
    }
    return false;
}

} // namespace qs
