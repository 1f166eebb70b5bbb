// SPDX-License-Identifier: Apache-2.0
#include "engine/execute/torch_types.h"
#include "engine/import/torchscript/walk/torchscript_evaluator.h"

#include <torch/csrc/jit/api/module.h>

#include <algorithm>
#include <array>

namespace qs {

namespace {

/// What torch.nn's layers take of their first arguments, the others being masks, offsets and the
/// like: recurrent and attention layers and bags one sequence or a batch of them, cells one step or
/// a batch.
struct Layer
{
    std::string_view name;
    std::int64_t rank; ///< of a batch
    std::size_t values; ///< how many of the arguments these are
    bool ofWeights; ///< their element type is that of the layer's weights
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

/// The element type of a module's first floating-point weight, its own or of a module inside.
DType weightType(const at::IValue& module)
{
    if (module.isObject())
        for (const at::Tensor& weight : torch::jit::Module(module.toObject()).parameters())
            if (weight.is_floating_point())
                return fromScalarType(weight.scalar_type());
    return DType::Unknown;
}

} // namespace

bool ScriptEvaluator::isInTorch() const
{
    return !m_levels.empty()
        && (!m_levels.back().function.empty()
            || m_levels.back().scope.moduleClass.starts_with("torch.nn."));
}

/// Where nothing else tells, as in a scripted model whose input goes straight into a layer, it is a
/// batch of what the layer's weights are.
void ScriptEvaluator::enterLayer(std::string_view moduleClass, const Items& args)
{
    const Layer* layer = layerOf(moduleClass);
    const bool hasOffsets = layer && !layer->ofWeights && args.size() > 2 && runtimeValue(args[2]);
    for (std::size_t i = 1; layer && i < args.size() && i <= layer->values; ++i) {
        const ScopedRef* value = runtimeValue(args[i]);
        if (!value || value->maybeNone || valueOf(*value).type.kind != ValueKind::Tensor)
            continue;
        if (!findRank(args[i]))
            setRank(*value, hasOffsets ? 1 : layer->rank, true); // bags one behind another
        if (layer->ofWeights && valueOf(*value).type.isUntyped())
            value->scope->edit().change(value->ref.node).outputs[value->ref.index].type.dtype
                = weightType(containerOf(args[0])->saved);
    }
}

/// What torch.nn's own layers ask before they take a fused path for inference: as torch.export, the
/// other spelling, traces them, with gradients wanted and outside of any autocast.
std::optional<at::IValue> ScriptEvaluator::layerFact(const JitNode& node, const Items& args) const
{
    if (!isInTorch())
        return std::nullopt;
    const std::string_view kind = node.kind().toQualString();
    if (kind == "aten::is_grad_enabled")
        return at::IValue(true);
    if (kind == "aten::is_autocast_enabled" || kind == "aten::is_autocast_cpu_enabled")
        return at::IValue(false);
    if (const auto* device = args.empty() ? nullptr : knownValue(args[0]);
        kind == "prim::type" && device && device->isDevice()) // one that has the fused path
        return at::IValue(c10::DeviceTypeName(device->toDevice().type(), true));
    const ScopedRef* tensor = args.empty() ? nullptr : runtimeValue(args[0]);
    if (node.kind() != c10::prim::requires_grad || !tensor)
        return std::nullopt;
    const Node& maker = tensor->scope->edit().get(tensor->ref.node);
    return at::IValue(maker.kind == NodeKind::Parameter && !maker.isBuffer);
}

} // namespace qs
