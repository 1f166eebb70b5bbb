// SPDX-License-Identifier: Apache-2.0
#include "engine/import/torchscript/walk/torchscript_respell.h"

#include "engine/base/each_of.h"
#include "engine/execute/op_table.h"
#include "engine/execute/torch_types.h"
#include "engine/execute/value_conversion.h"
#include "engine/graph/operators/common_targets.h"
#include "engine/graph/operators/number_operators.h"
#include "engine/graph/operators/operators.h"
#include "engine/import/given_argument.h"

#include <torch/csrc/jit/ir/constants.h>

#include <algorithm>
#include <array>

namespace qs {

namespace {

/// Returns true if a value of the static type is always one of the types, false if never; nullopt
/// if unknown.
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

/// Returns true if an item equals None; nullopt if unknown.
std::optional<bool> knownNone(const ScriptItem& item)
{
    if (const auto* value = knownValue(item))
        return value->isNone();
    const ScopedRef* made = runtimeValue(item);
    return made && made->maybeNone ? std::nullopt : std::optional(false);
}

/// Returns true if two items are the same object; nullopt if unknown.
std::optional<bool> areSame(const ScriptItem& a, const ScriptItem& b)
{
    const auto first = knownNone(a), second = knownNone(b);
    if (!first || !second)
        return std::nullopt;
    return *first || *second ? *first == *second : sameItem(a, b);
}

bool sameDefault(const Argument& given, const c10::Argument& slot)
{
    if (!slot.default_value())
        return false;
    const Argument usual = constantArgument(*slot.default_value(), slot.real_type());
    if (given == usual)
        return true;
    // The default of an `int[2]=1` may be given as [1, 1].
    const auto* list = given.asList();
    return list && slot.N() && std::all_of(list->begin(), list->end(), [&](const Argument& item) {
               const auto* one = usual.asList();
               return item == usual || (one && one->size() == 1 && item == one->front());
           });
}

/// Returns the number that a trace wrote as a constant 0-d tensor; nullopt for other values.
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

Result<ScriptAnswer> ScriptRespeller::respell(const JitNode& node, const ScriptItems& args)
{
    if (const auto fact = layerFact(node, args))
        return ScriptAnswer(*fact);
    if (args.empty())
        return ScriptAnswer();
    const ScopedRef* made = runtimeValue(args[0]);
    const bool isTensor = made && scopedValue(*made).type.kind == ValueKind::Tensor;
    const c10::TypePtr declared = node.input(0)->type();
    switch (node.kind()) {
    case c10::prim::isinstance: {
        const bool isSurely = isTensor && !made->maybeNone; // may be more specific than declared
        const auto answer = isInstance(args[0], isSurely ? c10::TensorType::get() : declared,
                                       node.tys(c10::attr::types));
        if (!answer)
            return fail(m_emitter.unsupported(node, "asks for a type known only at run time"));
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
    QS_TRY(std::vector<NamedArgument> given,
           eachOf(args, [&](const ScriptItem& arg) -> Result<NamedArgument> {
               QS_TRY(Argument read, m_emitter.argument(arg, c10::NumberType::get()));
               return NamedArgument {"", std::move(read)};
           }));
    return m_emitter.emitOne(spelled, std::move(given), runtimeType(node.output()->type()).kind,
                             &node);
}

/// Answers queries of torch.nn's layers before they choose a fused inference path, as under
/// torch.export: gradients enabled, no autocast.
std::optional<at::IValue> ScriptRespeller::layerFact(const JitNode& node,
                                                     const ScriptItems& args) const
{
    if (!m_emitter.isInTorch())
        return std::nullopt;
    const std::string_view kind = node.kind().toQualString();
    if (kind == "aten::is_grad_enabled")
        return at::IValue(true);
    if (kind == "aten::is_autocast_enabled" || kind == "aten::is_autocast_cpu_enabled")
        return at::IValue(false);
    if (const auto* device = args.empty() ? nullptr : knownValue(args[0]);
        kind == "prim::type" && device && device->isDevice()) // a device with the fused path
        return at::IValue(c10::DeviceTypeName(device->toDevice().type(), true));
    const ScopedRef* tensor = args.empty() ? nullptr : runtimeValue(args[0]);
    if (node.kind() != c10::prim::requires_grad || !tensor)
        return std::nullopt;
    const Node& maker = tensor->scope->edit().get(tensor->ref.node);
    return at::IValue(maker.kind == NodeKind::Parameter && !maker.isBuffer);
}

/// Answers operators that read facts of a tensor.
Result<ScriptAnswer> ScriptRespeller::readTensor(const JitNode& node, const ScopedRef& tensor,
                                                 const ScriptItems& args)
{
    const ValueType& type = scopedValue(tensor).type;
    const std::string_view kind = node.kind().toQualString();
    if (hasTrait(kind, OperatorTrait::AnswersNo))
        return ScriptAnswer(at::IValue(false));
    if (node.kind() == c10::prim::device)
        return ScriptAnswer(at::IValue(at::Device(at::kCPU))); // replaced by the device of a run
    if (node.kind() == c10::prim::layout)
        return ScriptAnswer(at::IValue(std::int64_t(at::kStrided)));
    QS_TRY(const ValueRef self, m_emitter.use(tensor));
    const bool isItem = node.kind() == c10::aten::item;
    switch (node.kind()) {
    case c10::aten::Int:
    case c10::aten::IntImplicit:
    case c10::aten::ScalarImplicit:
    case c10::aten::item:
        if (const auto number = m_numbers.find({tensor.scope, tensor.ref});
            number != m_numbers.end())
            return ScriptAnswer(number->second);
        // The program declares a number of any type; the tensor determines the type.
        if ((isItem || node.kind() == c10::aten::ScalarImplicit) && isWholeNumber(type.dtype))
            return m_emitter.emitOne(isItem ? "aten.item.default" : "aten.ScalarImplicit.default",
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
        if (const auto rank = m_emitter.decidableRank(args[0]))
            return ScriptAnswer(at::IValue(*rank));
        break;
    case c10::aten::size:
        if (args.size() == 2)
            return m_emitter.emitSize(tensor, args[1], &node);
        break;
    case c10::aten::len:
        return m_emitter.emitSize(tensor, at::IValue(std::int64_t(0)), &node);
    case c10::aten::to:
        return castTensor(node, self, args);
    default:
        break;
    }
    if (kind == "aten::numel")
        return m_emitter.emitOne(kElementsTarget, {{"self", self}}, ValueKind::SymInt, &node);
    if (kind == "prim::data")
        return m_emitter.emitOne("aten.detach.default", {{"self", self}}, ValueKind::Tensor, &node);
    return ScriptAnswer();
}

/// aten::to.prim_* (self, [device,] dtype?, non_blocking, copy): the device is ignored, since the
/// run determines it.
Result<ScriptAnswer> ScriptRespeller::castTensor(const JitNode& node, ValueRef self,
                                                 const ScriptItems& args)
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
    QS_TRY(Argument wanted, m_emitter.argument(args[place], c10::ScalarTypeType::get()));
    return m_emitter.emitOne(kCastTarget, {{"self", self}, {"dtype", std::move(wanted)}},
                             ValueKind::Tensor, &node);
}

void ScriptRespeller::respellNumber(const JitNode& node, ScriptItems& args)
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

/// Creates a tensor of one number; reading an integer from it yields `number`.
Result<ScriptAnswer> ScriptRespeller::numberTensor(const JitNode& node, const ScriptItem& number,
                                                   DType dtype)
{
    QS_TRY(Argument value, m_emitter.argument(number, c10::NumberType::get()));
    const ScopedRef made = m_emitter.emitOne(
        kScalarTensorTarget, {{"s", std::move(value)}, {"dtype", dtype}}, ValueKind::Tensor, &node);
    if (dtype == DType::Int64)
        m_numbers[{made.scope, made.ref}] = number;
    m_emitter.inference().setRank(made, {0});
    return made;
}

/// Returns the integer represented by an operand of a trace's arithmetic; nullopt for a real
/// tensor.
std::optional<ScriptItem> ScriptRespeller::wholeNumber(const JitValue& value,
                                                       const ScriptItem& item) const
{
    if (const auto* known = knownValue(item))
        return known->isInt() ? std::optional(item) : std::nullopt;
    const ScopedRef* made = runtimeValue(item);
    if (!made)
        return std::nullopt;
    if (const auto held = m_numbers.find({made->scope, made->ref}); held != m_numbers.end())
        return held->second;
    const auto constant = tracedNumber(value);
    return constant && constant->isInt() ? std::optional(ScriptItem(*constant)) : std::nullopt;
}

/// Converts a trace's size arithmetic on one-element tensors to Python's operator on numbers, as in
/// a .pt2; nullopt for other nodes.
Result<ScriptAnswer> ScriptRespeller::numberArithmetic(const JitNode& node, const ScriptItems& args)
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
    QS_TRY(Argument left, m_emitter.argument(*a, c10::NumberType::get()));
    QS_TRY(Argument right, m_emitter.argument(*b, c10::NumberType::get()));
    const ScopedRef number = m_emitter.emitOne(
        spelled, {{"", std::move(left)}, {"", std::move(right)}}, ValueKind::SymInt, &node);
    return numberTensor(node, number, DType::Int64);
}

void respellConvolution(Node& node)
{
    const bool isMode = node.target == "aten._convolution_mode.default";
    if (!isMode && node.target != "aten._convolution.default"
        && node.target != "aten._convolution.deprecated")
        return;
    const auto listOf = [&](std::string_view name) {
        const Argument* arg = node.tryArg(name);
        return arg && arg->asList() ? *arg->asList() : Argument::List();
    };
    const std::size_t rank = listOf("stride").size();
    const bool back = isTrue(node.tryArg("transposed"));
    const auto padding = listOf("output_padding");
    if (rank < 1 || rank > 3
        || (!back && std::any_of(padding.begin(), padding.end(), [](const Argument& size) {
               return !size.asInt() || *size.asInt() != 0;
           })))
        return;
    const std::string word = (back ? "conv_transpose" : "conv") + std::to_string(rank) + "d";
    const std::string target = "aten." + word
        + (isMode                 ? ".padding"
               : back && rank > 1 ? ".input"
                                  : ".default");
    const auto op = findOperator(target);
    std::vector<NamedArgument> args;
    for (const c10::Argument& slot : op->schema().arguments())
        args.push_back({slot.name(), *node.tryArg(slot.name())});
    dropDefaults(args, op->schema());
    node.args = std::move(args);
    node.originalTarget = std::exchange(node.target, target);
    node.name = word;
}

void dropDefaults(std::vector<NamedArgument>& args, const c10::FunctionSchema& schema)
{
    while (!args.empty() && args.size() <= schema.arguments().size()
           && sameDefault(args.back().value, schema.arguments()[args.size() - 1]))
        args.pop_back();
}

} // namespace qs
