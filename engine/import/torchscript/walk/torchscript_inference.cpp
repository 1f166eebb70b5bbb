// SPDX-License-Identifier: Apache-2.0
#include "engine/import/torchscript/walk/torchscript_inference.h"

#include "engine/base/torch_guard.h"
#include "engine/execute/node_runner.h"
#include "engine/execute/op_table.h"
#include "engine/execute/torch_types.h"
#include "engine/graph/operators/operators.h"
#include "engine/import/given_argument.h"

#include <ATen/ops/empty.h>
#include <torch/csrc/jit/api/module.h>

#include <algorithm>
#include <array>
#include <cctype>

namespace qs {

namespace {

/// Known facts of the values that a node reads.
struct Operands
{
    struct Operand
    {
        const ValueType* type;
        std::optional<std::int64_t> rank;
    };
    std::unordered_map<ValueRef, Operand> of = {};
    std::optional<DType> first = {}; ///< element type of the first tensor
    bool areTyped = true, areRanked = true, areAlike = true; ///< alike: same element type

    std::optional<std::int64_t> rankOf(const Argument* argument) const
    {
        const auto* ref = argument ? argument->asRef() : nullptr;
        return ref ? of.at(*ref).rank : std::nullopt;
    }
};

/// Returns the element type of the results: the dtype argument, else by the operator's row.
DType typeByRow(const Node& node, DType first)
{
    if (const Argument* wanted = given(node, "dtype"))
        return wanted->asDType() ? *wanted->asDType() : DType::Unknown;
    const at::ScalarType type = toScalarType(first);
    switch (functionalFactsOf(node.target).type) {
    case ResultType::First:
        return first;
    case ResultType::Bool:
        return DType::Bool;
    case ResultType::Index:
        return isTrue(given(node, "out_int32")) ? DType::Int32 : DType::Int64;
    case ResultType::Float32:
        return DType::Float32;
    case ResultType::Complex:
        return first == DType::Unknown ? first
                                       : fromScalarType(c10::toComplexType(
                                           c10::isIntegralType(type, true) ? at::kFloat : type));
    case ResultType::Real:
        return fromScalarType(c10::toRealValueType(type));
    case ResultType::Unknown:
        break;
    }
    return DType::Unknown;
}

/// Returns the rank of the results by the operator's row.
std::optional<std::int64_t> rankByRow(const Node& node, const Operands& operands)
{
    const auto operand = [&](std::size_t index) { return operands.rankOf(node.tryArg(index)); };
    switch (functionalFactsOf(node.target).rank) {
    case ResultRank::First:
        return operand(0);
    case ResultRank::Second:
        return operand(1);
    case ResultRank::SizesSecond: {
        const auto* sizes = node.tryArg(1) ? node.tryArg(1)->asList() : nullptr;
        return sizes ? std::optional(std::int64_t(sizes->size())) : std::nullopt;
    }
    case ResultRank::Two:
        return 2;
    case ResultRank::Three:
        return 3;
    case ResultRank::Spectrum: { // real and imaginary parts form another dimension
        const auto rank = operand(0);
        return rank ? std::optional(*rank + (isTrue(given(node, "return_complex")) ? 1 : 2)) : rank;
    }
    case ResultRank::Unknown:
        break;
    }
    return std::nullopt;
}

/// Returns the rank of a batch for convolutions and pooling, which accept one sample or a batch;
/// nullopt for other operators.
std::optional<std::int64_t> rankOfBatch(const Node& node)
{
    const OperatorFamily family = factsOf(node.target).family;
    const std::string_view word = atenWord(node.target);
    const bool isLayer = family == OperatorFamily::Convolution
        || family == OperatorFamily::TransposedConvolution || family == OperatorFamily::Pooling;
    const bool tells = word.size() > 1 && word.back() == 'd' && std::isdigit(word[word.size() - 2]);
    return isLayer && tells ? std::optional<std::int64_t>(word[word.size() - 2] - '0' + 2)
                            : std::nullopt;
}

/// Substitutes for unknown facts of an operand.
struct StandIn
{
    DType dtype = DType::Float32;
    std::int64_t size = 0; ///< size of every unknown dimension
    bool ofWeights = false; ///< known sizes are kept
};

at::Tensor standInFor(const ValueType& type, std::optional<std::int64_t> rank,
                      const StandIn& unknown)
{
    constexpr std::int64_t kUsualRank = 4;
    std::vector<std::int64_t> sizes(std::size_t(rank.value_or(kUsualRank)), unknown.size);
    for (std::size_t d = 0; unknown.ofWeights && type.shapeKnown && d < sizes.size(); ++d)
        sizes[d] = type.shape.at(d).size;
    const DType dtype = type.dtype == DType::Unknown ? unknown.dtype : type.dtype;
    return at::empty(sizes, at::TensorOptions(toScalarType(dtype)).device(at::kMeta));
}

/// Runs the operator on tensors of the meta device, which hold no elements, so that nothing is
/// computed.
Result<std::vector<at::IValue>> probe(const Node& node, const Operands& operands,
                                      const StandIn& unknown)
{
    const ReadValue read = [&](ValueRef ref) -> Result<at::IValue> {
        const auto& [type, rank] = operands.of.at(ref);
        switch (type->kind) {
        case ValueKind::SymInt:
            return at::IValue(unknown.size);
        case ValueKind::SymFloat:
            return at::IValue(1.0);
        case ValueKind::SymBool:
            return at::IValue(true);
        case ValueKind::Tensor:
            return at::IValue(standInFor(*type, rank, unknown));
        default:
            return fail(ErrorCode::Unsupported, "its type is not known");
        }
    };
    const RunSubgraph none = [](std::size_t, const std::vector<at::IValue>&) {
        return fail(ErrorCode::Unsupported, "bodies are not inferred");
    };
    return guardTorchValue<std::vector<at::IValue>>([&] {
        return runCall(node, prepareCall(node), {at::Device(at::kMeta), read, none});
    });
}

/// True if the element type, layout or memory format is known only at run time: their codes cannot
/// be substituted.
bool choosesByNumber(const Node& node)
{
    const auto isRead = [&](std::string_view name) {
        const Argument* choice = node.tryArg(name);
        return choice && choice->asRef();
    };
    return isRead("dtype") || isRead("layout") || isRead("memory_format");
}

bool returnsList(const c10::FunctionSchema& schema)
{
    const auto& returns = schema.returns();
    return returns.size() == 1 && returns[0].type()->kind() == c10::TypeKind::ListType;
}

/// Infers results that the row does not determine by running the operator, if its operands are
/// sufficiently known. Element types and ranks are inferred independently.
void askOperator(Node& node, const c10::OperatorHandle& op,
                 std::vector<std::optional<std::int64_t>>& ranks, const Operands& operands)
{
    const auto& outputs = node.outputs;
    // In type promotion, tensors without dimensions have lower priority.
    const bool tellsTypes = operands.areTyped && (operands.areRanked || operands.areAlike)
        && std::any_of(outputs.begin(), outputs.end(),
                       [](const Value& value) { return value.type.isUntyped(); });
    const bool tellsRanks
        = operands.areRanked && std::find(ranks.begin(), ranks.end(), std::nullopt) != ranks.end();
    if ((!tellsTypes && !tellsRanks) || isForbiddenOperator(node.target) || choosesByNumber(node))
        return;
    const bool isList = returnsList(op.schema());
    // Sizes large enough for typical windows and numbers of elements, then larger ones.
    for (const StandIn& unknown :
         {StandIn {DType::Float32, 8}, StandIn {DType::Float32, 512},
          StandIn {DType::Float32, 512, true}, StandIn {DType::Int64, 8}}) {
        const auto made = probe(node, operands, unknown);
        if (!made || made->empty() || (!isList && made->size() != node.outputs.size()))
            continue;
        for (std::size_t i = 0; i < node.outputs.size(); ++i) {
            const at::IValue& value = (*made)[isList ? 0 : i];
            ValueType& type = node.outputs[i].type;
            if (!value.isTensor() || type.kind != ValueKind::Tensor)
                continue;
            if (tellsTypes && type.isUntyped())
                type.dtype = fromScalarType(value.toTensor().scalar_type());
            // The rank of squeeze depends on sizes.
            if (tellsRanks && !ranks[i] && !node.target.starts_with("aten.squeeze"))
                ranks[i] = value.toTensor().dim();
        }
        return;
    }
}

/// First arguments of torch.nn's layers (the others are masks, offsets and the like): recurrent and
/// attention layers and bags take one sequence or a batch, cells one step or a batch.
struct Layer
{
    std::string_view name;
    std::int64_t rank; ///< of a batch
    std::size_t values; ///< number of these arguments
    bool ofWeights; ///< they have the element type of the layer's weights
};

const Layer* layerOf(std::string_view moduleClass)
{
    static constexpr std::array<Layer, 10> kLayers {
        {{"torch.nn.LSTM", 3, 1, true},
         {"torch.nn.GRU", 3, 2, true},
         {"torch.nn.RNN", 3, 2, true},
         {"torch.nn.LSTMCell", 2, 1, true},
         {"torch.nn.GRUCell", 2, 2, true},
         {"torch.nn.RNNCell", 2, 2, true},
         {"torch.nn.MultiheadAttention", 3, 3, true},
         {"torch.nn.TransformerEncoderLayer", 3, 1, true},
         {"torch.nn.TransformerDecoderLayer", 3, 2, true},
         {"torch.nn.EmbeddingBag", 2, 1, false}}};
    const auto found = std::find_if(kLayers.begin(), kLayers.end(),
                                    [&](const Layer& layer) { return layer.name == moduleClass; });
    return found == kLayers.end() ? nullptr : &*found;
}

/// Returns the element type of the first floating-point weight of a module or its submodules.
DType weightType(const at::IValue& module)
{
    if (module.isObject())
        for (const at::Tensor& weight : torch::jit::Module(module.toObject()).parameters())
            if (weight.is_floating_point())
                return fromScalarType(weight.scalar_type());
    return DType::Unknown;
}

} // namespace

std::optional<ScriptRank> ScriptInference::findRank(const ScriptItem& item) const
{
    const ScopedRef* ref = runtimeValue(item);
    if (!ref)
        return std::nullopt;
    const ValueType& type = scopedValue(*ref).type;
    if (type.kind == ValueKind::Tensor && type.shapeKnown)
        return ScriptRank {std::int64_t(type.shape.size()), false};
    const auto it = m_ranks.find({ref->scope, ref->ref});
    return it == m_ranks.end() ? std::nullopt : std::optional(it->second);
}

ScriptInference::Ranks ScriptInference::inferResults(Node& node, ScriptScope& scope) const
{
    Ranks told(node.outputs.size());
    const auto isTensor = [](const Value& value) { return value.type.kind == ValueKind::Tensor; };
    if (!node.target.starts_with("aten.")
        || std::none_of(node.outputs.begin(), node.outputs.end(), isTensor))
        return told;
    Operands operands;
    bool isAssumed = false;
    for (const auto& arg : node.args)
        forEachRef(arg.value, [&](ValueRef ref) {
            const auto rank = findRank(ScopedRef {&scope, ref, false});
            isAssumed = isAssumed || (rank && rank->isAssumed);
            const ValueType& type = scope.value(ref).type;
            operands.of[ref] = {&type, rank ? std::optional(rank->count) : std::nullopt};
            if (type.kind != ValueKind::Tensor)
                return;
            operands.first = operands.first.value_or(type.dtype);
            operands.areTyped = operands.areTyped && type.dtype != DType::Unknown;
            operands.areAlike = operands.areAlike && type.dtype == *operands.first;
            operands.areRanked = operands.areRanked && rank;
        });
    const auto op = findOperator(node.target);
    const bool inPlace = op && mutatesArguments(op->schema());
    const bool isList = op && returnsList(op->schema());
    const DType first = operands.first.value_or(DType::Unknown);
    const bool isChanged = inPlace && !node.args.empty() && node.args[0].value.asRef();
    const auto rank = isChanged ? operands.rankOf(node.tryArg(0)) : rankByRow(node, operands);
    const DType dtype = inPlace ? first : typeByRow(node, first);
    const bool givesIndices
        = node.outputs.size() == 2 && factsOf(node.target).traits.has(OperatorTrait::GivesIndices);
    std::vector<std::optional<std::int64_t>> ranks(node.outputs.size());
    for (std::size_t i = 0; i < node.outputs.size(); ++i) {
        ValueType& type = node.outputs[i].type;
        if (givesIndices)
            type.dtype = i == 0 ? first : DType::Int64;
        else if (type.isUntyped())
            type.dtype = dtype;
        if (i == 0 || isList)
            ranks[i] = rank;
    }
    if (op && !inPlace)
        askOperator(node, *op, ranks, operands);
    if (!ranks[0]) {
        ranks[0] = rankOfBatch(node);
        isAssumed = isAssumed || ranks[0];
    }
    for (std::size_t i = 0; i < ranks.size(); ++i)
        if (ranks[i])
            told[i] = ScriptRank {*ranks[i], isAssumed};
    return told;
}

void ScriptInference::enterLayer(std::string_view moduleClass, const ScriptItems& args)
{
    const Layer* layer = layerOf(moduleClass);
    const bool hasOffsets = layer && !layer->ofWeights && args.size() > 2 && runtimeValue(args[2]);
    for (std::size_t i = 1; layer && i < args.size() && i <= layer->values; ++i) {
        const ScopedRef* value = runtimeValue(args[i]);
        if (!value || value->maybeNone || scopedValue(*value).type.kind != ValueKind::Tensor)
            continue;
        if (!findRank(args[i]))
            // With offsets, bags are concatenated.
            setRank(*value, {hasOffsets ? 1 : layer->rank, true});
        if (layer->ofWeights && scopedValue(*value).type.isUntyped())
            value->scope->edit().change(value->ref.node).outputs[value->ref.index].type.dtype
                = weightType(containerOf(args[0])->saved);
    }
}

} // namespace qs
