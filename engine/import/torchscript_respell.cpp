// SPDX-License-Identifier: Apache-2.0
#include "engine/execute/torch_types.h"
#include "engine/import/torchscript_evaluator.h"
#include "engine/import/torchscript_spelling.h"

#include <torch/csrc/jit/ir/constants.h>

#include <algorithm>
#include <array>
#include <map>

namespace qs {

namespace {

/// Questions about a tensor's kind whose answer is the same wherever it is run here.
std::optional<at::IValue> tensorFact(const std::string& kind)
{
    static constexpr std::array<std::string_view, 9> kNever {
        "prim::is_cuda", "prim::is_mkldnn", "prim::is_sparse", "prim::is_vulkan",    "prim::is_mps",
        "prim::is_xpu",  "prim::is_meta",   "prim::is_nested", "prim::requires_grad"};
    if (std::find(kNever.begin(), kNever.end(), kind) != kNever.end())
        return at::IValue(false);
    if (kind == "prim::device")
        return at::IValue(at::Device(at::kCPU)); // the device of a run takes its place
    if (kind == "prim::layout")
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

/// torch.nn's recurrent and attention layers and bags take one sequence or a batch of them, the
/// cells one step or a batch. Where nothing else tells, as in a scripted model whose input goes
/// straight into one, it is the batch: its number of dimensions.
std::optional<std::int64_t> ScriptEvaluator::batchedRank() const
{
    struct Layer
    {
        std::string_view name;
        std::int64_t rank;
    };
    static constexpr std::array<Layer, 10> kBatched {{{"torch.nn.LSTM", 3},
                                                      {"torch.nn.GRU", 3},
                                                      {"torch.nn.RNN", 3},
                                                      {"torch.nn.LSTMCell", 2},
                                                      {"torch.nn.GRUCell", 2},
                                                      {"torch.nn.RNNCell", 2},
                                                      {"torch.nn.MultiheadAttention", 3},
                                                      {"torch.nn.TransformerEncoderLayer", 3},
                                                      {"torch.nn.TransformerDecoderLayer", 3},
                                                      {"torch.nn.EmbeddingBag", 2}}};
    for (const Layer& layer : kBatched)
        if (!m_levels.empty() && m_levels.back().scope.moduleClass == layer.name)
            return layer.rank;
    return std::nullopt;
}

/// What torch.nn's own layers ask before they take a fused path for inference: as torch.export, the
/// other spelling, traces them, with gradients wanted and outside of any autocast.
std::optional<at::IValue> ScriptEvaluator::layerFact(const JitNode& node, const Items& args) const
{
    if (m_levels.empty() || !m_levels.back().scope.moduleClass.starts_with("torch.nn."))
        return std::nullopt;
    const std::string_view kind = node.kind().toQualString();
    if (kind == "aten::is_grad_enabled")
        return at::IValue(true);
    if (kind == "aten::is_autocast_enabled" || kind == "aten::is_autocast_cpu_enabled")
        return at::IValue(false);
    const ScopedRef* tensor = args.empty() ? nullptr : runtimeValue(args[0]);
    if (!tensor || valueOf(*tensor).type.kind != ValueKind::Tensor)
        return std::nullopt;
    if (kind == "prim::requires_grad") {
        const Node& maker = tensor->scope->edit().get(tensor->ref.node);
        return at::IValue(maker.kind == NodeKind::Parameter && !maker.isBuffer);
    }
    const bool asksUnknown
        = kind == "prim::dtype" && valueOf(*tensor).type.isUntyped() && batchedRank();
    return asksUnknown ? std::optional(at::IValue(std::int64_t(at::kFloat))) : std::nullopt;
}

/// Operators that a .pt2 spells otherwise or that can be answered without a node.
Result<bool> ScriptEvaluator::respell(const JitNode& node, const Items& args, Env& env)
{
    const std::string kind = node.kind().toQualString();
    const auto bind = [&](ScriptItem value) {
        env[node.output()] = std::move(value);
        return true;
    };
    if (kind == "prim::isinstance") {
        const ScopedRef* made = runtimeValue(args.at(0)); // may be told better than its place
        const bool isTensor
            = made && !made->maybeNone && valueOf(*made).type.kind == ValueKind::Tensor;
        const auto answer
            = isInstance(args.at(0), isTensor ? c10::TensorType::get() : node.input(0)->type(),
                         node.tys(c10::attr::types));
        if (!answer)
            return fail(unsupported(node, "asks for a type that only a run tells"));
        return bind(at::IValue(*answer));
    }
    if (const auto fact = layerFact(node, args))
        return bind(*fact);
    if (const auto* device = args.empty() ? nullptr : knownValue(args[0]);
        kind == "prim::type" && device && device->isDevice())
        return bind(at::IValue(c10::DeviceTypeName(device->toDevice().type(), true)));
    if (kind == "prim::unchecked_unwrap_optional" || kind == "aten::_unwrap_optional")
        return bind(args.at(0));
    const ScopedRef* tensor = args.empty() ? nullptr : runtimeValue(args[0]);
    const bool onTensor = tensor && valueOf(*tensor).type.kind == ValueKind::Tensor;
    if (kind == "prim::NumToTensor") {
        const auto held = node.input(0)->type()->kind();
        QS_TRY(env[node.output()],
               numberTensor(node, args.at(0),
                            held == c10::TypeKind::FloatType      ? DType::Float64
                                : held == c10::TypeKind::BoolType ? DType::Bool
                                                                  : DType::Int64));
        return true;
    }
    if (const auto spelled = arithmeticOfNumbers(node, args)) {
        QS_TRY(env[node.output()], numberArithmetic(node, *spelled, args));
        return true;
    }
    if (!onTensor) {
        const c10::FunctionSchema* schema = node.maybeSchema();
        const std::string spelled = schema && node.outputs().size() == 1
            ? scalarTarget(targetOf(schema->operator_name()))
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

/// A tensor of one number; who asks it for the number gets `number`.
Result<ScopedRef> ScriptEvaluator::numberTensor(const JitNode& node, const ScriptItem& number,
                                                DType dtype)
{
    QS_TRY(Argument value, argument(number, c10::NumberType::get()));
    const ScopedRef made
        = emitOne("aten.scalar_tensor.default", {{"s", std::move(value)}, {"dtype", dtype}},
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

/// A trace computes sizes with tensors of one number. Python's operator for two such tensors, as
/// the other spellings have it; none for any other node.
std::optional<std::string> ScriptEvaluator::arithmeticOfNumbers(const JitNode& node,
                                                                const Items& args) const
{
    static const std::map<std::string_view, std::string, std::less<>> kOperators {
        {"aten::add", "_operator.add"},
        {"aten::sub", "_operator.sub"},
        {"aten::mul", "_operator.mul"},
        {"aten::floor_divide", "_operator.floordiv"},
        {"aten::remainder", "_operator.mod"}};
    const auto spelled = kOperators.find(node.kind().toQualString());
    if (spelled == kOperators.end() || args.size() < 2
        || node.output()->type()->kind() != c10::TypeKind::TensorType)
        return std::nullopt;
    const auto isMade = [&](const ScriptItem& item) { return runtimeValue(item) != nullptr; };
    const auto a = wholeNumber(*node.input(0), args[0]);
    const auto b = wholeNumber(*node.input(1), args[1]);
    if (!a || !b || (!isMade(*a) && !isMade(*b)))
        return std::nullopt;
    const auto* alpha = args.size() > 2 ? knownValue(args[2]) : nullptr;
    const bool scaled = args.size() > 2 && !(alpha && alpha->isInt() && alpha->toInt() == 1);
    return scaled ? std::nullopt : std::optional(spelled->second);
}

Result<ScopedRef> ScriptEvaluator::numberArithmetic(const JitNode& node, const std::string& target,
                                                    const Items& args)
{
    std::vector<NamedArgument> given;
    for (std::size_t i = 0; i < 2; ++i) {
        QS_TRY(Argument read,
               argument(*wholeNumber(*node.input(i), args[i]), c10::NumberType::get()));
        given.push_back({"", std::move(read)});
    }
    return numberTensor(node, emitOne(target, std::move(given), ValueKind::SymInt, &node),
                        DType::Int64);
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
    if (const auto fact = tensorFact(kind))
        return bind(*fact);
    if (kind == "prim::dtype" && type.dtype != DType::Unknown)
        return bind(at::IValue(std::int64_t(toScalarType(type.dtype))));
    if (kind == "aten::is_floating_point" && type.dtype != DType::Unknown)
        return bind(at::IValue(isFloating(type.dtype)));
    if (kind == "aten::dim") {
        const auto known = rankOf(args[0]);
        const auto rank = known ? known : batchedRank();
        if (rank && !known)
            setRank(*tensor, *rank);
        if (rank)
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
        return bind(emitOne("aten.sym_numel.default", {{"self", self}}, ValueKind::SymInt, &node));
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
        return bind(emitOne("aten.to.dtype", {{"self", self}, {"dtype", std::move(wanted)}},
                            ValueKind::Tensor, &node));
    }
    return false;
}

} // namespace qs
