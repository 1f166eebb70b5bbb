// SPDX-License-Identifier: Apache-2.0
#include "engine/import/torchscript/normalise/torchscript_ranks.h"

#include "engine/import/operator_words.h"

#include <algorithm>
#include <map>
#include <string>

namespace qs {

namespace {

/// The most dimensions of the operands; unknown where one is not known or has fewer than `least`.
std::optional<std::int64_t> widest(const Node& node, const RankOf& rankOf, std::int64_t least)
{
    std::optional<std::int64_t> most = 0;
    for (const auto& arg : node.args)
        forEachRef(arg.value, [&](ValueRef ref) {
            const auto rank = rankOf(ref);
            most = most && rank && *rank >= least ? std::optional(std::max(*most, *rank))
                                                  : std::nullopt;
        });
    return most;
}

/// What is left of the dimensions by a reduction along `dim`, all where there is none.
std::optional<std::int64_t> reducedRank(const Node& node, std::optional<std::int64_t> rank)
{
    const Argument* keep = given(node, "keepdim");
    const Argument* dims = given(node, "dim");
    if (isTrue(keep))
        return rank;
    const auto* list = dims ? dims->asList() : nullptr;
    if (!dims || (list && list->empty()))
        return keep || node.tryArg("other") ? std::nullopt : std::optional<std::int64_t>(0);
    if (!rank || (!list && !dims->asInt()))
        return std::nullopt;
    return *rank - (list ? std::int64_t(list->size()) : 1);
}

} // namespace

std::optional<std::int64_t> inferRank(const Node& node, const RankOf& rankOf)
{
    if (node.outputs.empty() || !node.target.starts_with("aten.")
        || node.outputs[0].type.kind != ValueKind::Tensor)
        return std::nullopt;
    const std::string name = operatorWord(node.target);
    const auto operand = [&](std::size_t index) -> std::optional<std::int64_t> {
        const auto* ref = index < node.args.size() ? node.args[index].value.asRef() : nullptr;
        return ref ? rankOf(*ref) : std::nullopt;
    };
    static const Words same
        = words("relu relu6 hardtanh hardswish hardsigmoid sigmoid tanh gelu silu elu "
                "leaky_relu softmax log_softmax permute transpose contiguous clone detach "
                "dropout slice roll flip pad max_pool1d max_pool2d max_pool3d avg_pool1d "
                "avg_pool2d avg_pool3d batch_norm adaptive_avg_pool1d adaptive_avg_pool2d "
                "adaptive_avg_pool3d layer_norm group_norm instance_norm linear lstm gru "
                "rnn_tanh rnn_relu masked_fill zeros_like ones_like clamp abs neg copy fill "
                "zero to constant_pad_nd upsample_bilinear2d upsample_nearest2d "
                "upsample_bicubic2d exp sqrt rsqrt log reciprocal chunk split "
                "split_with_sizes narrow prelu mish softplus tril triu type_as cumsum "
                "scaled_dot_product_attention alias channel_shuffle pixel_shuffle glu "
                "index_select conv1d conv2d conv3d conv_transpose1d conv_transpose2d "
                "conv_transpose3d sort topk gather t swapaxes swapdims movedim moveaxis selu celu "
                "threshold softsign hardshrink softshrink logsigmoid sgn sign floor ceil round "
                "trunc square cumprod erfinv rand_like randn_like empty_like full_like "
                "lift_fresh lift_fresh_copy conj resolve_conj clamp_min clamp_max pixel_unshuffle "
                "fft_fftshift fft_ifftshift native_dropout bernoulli nan_to_num logical_not isnan");
    static const std::map<std::string, std::int64_t, std::less<>> steps {
        {"unsqueeze", 1},    {"select", -1},   {"unbind", -1},          {"unfold", 1},
        {"view_as_real", 1}, {"diagonal", -1}, {"view_as_complex", -1}, {"diag_embed", 1}};
    if (const auto step = steps.find(name); step != steps.end()) {
        const auto rank = operand(0);
        return rank ? std::optional(*rank + step->second) : std::nullopt;
    }
    static const Words broadcasting
        = words("add sub rsub mul div pow hypot true_divide floor_divide remainder fmod maximum "
                "minimum atan2 eq ne "
                "lt le gt ge logical_and logical_or logical_xor where matmul lerp addcmul addcdiv");
    if (broadcasting.contains(name))
        return widest(node, rankOf, name == "matmul" ? 2 : 0);
    static const std::map<std::string, std::int64_t, std::less<>> fixed {
        {"mm", 2},       {"addmm", 2}, {"bmm", 3},   {"baddbmm", 3}, {"arange", 1},
        {"linspace", 1}, {"eye", 2},   {"outer", 2}, {"ger", 2},     {"nonzero", 2}};
    if (const auto known = fixed.find(name); known != fixed.end())
        return known->second;
    const bool spectral = name.starts_with("fft_") && !name.ends_with("freq");
    if (same.contains(name) || floatMaking().contains(name) || spectral)
        return operand(0);
    static const Words reducing = words("mean sum amax amin std var max min prod logsumexp norm "
                                        "argmax argmin all any linalg_vector_norm");
    if (reducing.contains(name))
        return reducedRank(node, operand(0));
    if (name == "stft") {
        const bool pairs = !isTrue(given(node, "return_complex"));
        const auto rank = operand(0);
        return rank ? std::optional(*rank + (pairs ? 2 : 1)) : std::nullopt;
    }
    static const Words asOther = words("expand_as view_as reshape_as");
    if (asOther.contains(name))
        return operand(1);
    if (name == "view" || name == "reshape" || name == "expand" || name == "zeros" || name == "ones"
        || name == "full") {
        const std::size_t at = name == "view" || name == "reshape" || name == "expand" ? 1 : 0;
        const auto* sizes = at < node.args.size() ? node.args[at].value.asList() : nullptr;
        return sizes ? std::optional(std::int64_t(sizes->size())) : std::nullopt;
    }
    const auto* parts = node.args.empty() ? nullptr : node.args[0].value.asList();
    if (parts && (name == "cat" || name == "concat" || name == "stack"))
        for (const Argument& part : *parts)
            if (const auto rank = part.asRef() ? rankOf(*part.asRef()) : std::nullopt)
                return *rank + (name == "stack" ? 1 : 0);
    if (parts && name == "meshgrid")
        return std::int64_t(parts->size());
    if (name == "flatten") {
        const auto rank = operand(0);
        const auto number = [&](const char* key, std::int64_t usual) {
            const Argument* arg = node.tryArg(key);
            return arg && arg->asInt() ? *arg->asInt() : usual;
        };
        if (!rank)
            return std::nullopt;
        const auto place = [&](std::int64_t d) { return d < 0 ? d + *rank : d; };
        return *rank - (place(number("end_dim", -1)) - place(number("start_dim", 0)));
    }
    if (name == "embedding") {
        const auto rank = operand(1);
        return rank ? std::optional(*rank + 1) : std::nullopt;
    }
    return std::nullopt;
}

std::optional<std::int64_t> rankOfBatch(const Node& node)
{
    static const Words layers = words(
        "conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d max_pool1d "
        "max_pool2d max_pool3d avg_pool1d avg_pool2d avg_pool3d adaptive_avg_pool1d "
        "adaptive_avg_pool2d adaptive_avg_pool3d");
    const std::string name = operatorWord(node.target);
    if (!node.target.starts_with("aten.") || !layers.contains(name))
        return std::nullopt;
    return name[name.size() - 2] - '0' + 2;
}

bool ranksAgree(const Node& node)
{
    static const Words alike
        = words("chunk split split_with_sizes tensor_split unbind meshgrid sort topk max "
                "min unsafe_chunk unsafe_split");
    return node.target.starts_with("aten.") && alike.contains(operatorWord(node.target));
}

} // namespace qs
