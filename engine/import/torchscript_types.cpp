// SPDX-License-Identifier: Apache-2.0
#include "engine/import/torchscript_types.h"

#include "engine/import/type_promotion.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <string>

namespace qs {

namespace {

using Names = std::set<std::string, std::less<>>;

Names words(const std::string& text)
{
    std::istringstream in(text);
    return Names(std::istream_iterator<std::string>(in), {});
}

/// The operator's name alone: "relu" for "aten.relu_.default".
std::string baseName(const std::string& target)
{
    const auto first = target.find('.');
    const auto last = target.rfind('.');
    if (first == std::string::npos || first == last)
        return {};
    std::string name = target.substr(first + 1, last - first - 1);
    if (name.size() > 1 && name.ends_with('_') && !name.ends_with("__"))
        name.pop_back();
    return name;
}

const Names& comparisons()
{
    static const Names names {
        "eq",    "ne",          "lt",         "le",          "gt",
        "ge",    "logical_and", "logical_or", "logical_not", "logical_xor",
        "isnan", "isinf",       "isfinite",   "isin",        "bitwise_not_bool"};
    return names;
}

const Names& indices()
{
    static const Names names {"argmax",    "argmin",       "argsort", "nonzero", "bincount",
                              "bucketize", "searchsorted", "numel",   "one_hot", "count_nonzero"};
    return names;
}

/// Operators whose result has the dtype of their first tensor, whatever the others are.
const Names& firstOperand()
{
    static const Names names = words(
        "relu relu6 hardtanh hardswish hardsigmoid gelu silu elu "
        "leaky_relu softmax log_softmax view reshape permute transpose flatten "
        "unflatten squeeze unsqueeze expand expand_as contiguous clone detach "
        "dropout slice select index_select gather index narrow chunk split unbind "
        "split_with_sizes repeat roll flip pad constant_pad_nd max_pool1d "
        "max_pool2d max_pool3d avg_pool1d avg_pool2d avg_pool3d adaptive_avg_pool1d "
        "adaptive_avg_pool2d adaptive_avg_pool3d batch_norm layer_norm group_norm "
        "instance_norm linear conv1d conv2d conv3d conv_transpose1d "
        "conv_transpose2d conv_transpose3d matmul bmm mm addmm lstm gru rnn_tanh "
        "rnn_relu embedding_bag_none t masked_fill zeros_like ones_like empty_like "
        "full_like neg copy fill zero new_zeros "
        "new_full prelu upsample_bilinear2d upsample_nearest2d upsample_bicubic2d "
        "scaled_dot_product_attention pixel_shuffle channel_shuffle glu logsigmoid "
        "softplus mish tril triu movedim swapaxes alias type_as_first "
        "lift_fresh_copy lift_fresh view_as reshape_as conj conj_physical resolve_conj "
        "_conj resolve_neg fft_fftshift fft_ifftshift mean amax amin square "
        "sgn sign floor ceil round trunc diagonal diag diag_embed unfold "
        "as_strided einsum dot mv addmv addbmm outer ger tile repeat_interleave rot90 take "
        "meshgrid take_along_dim masked_select unsafe_chunk unsafe_split swapdims moveaxis");
    return names;
}

/// ... those that make floats of integers
const Names& floatMaking()
{
    static const Names names = words("reciprocal sqrt rsqrt exp log div true_divide sin cos erf "
                                     "atan2 tan asin acos atan sinh cosh asinh acosh atanh expm1 "
                                     "log1p log2 log10 angle sigmoid tanh");
    return names;
}

/// ... those that add up, integers to int64
const Names& adding()
{
    static const Names names {"sum", "prod", "cumsum", "cumprod"};
    return names;
}

/// ... those that make complex numbers
const Names& complexMaking()
{
    static const Names names
        = words("fft_fft fft_ifft fft_rfft fft_ihfft fft_fft2 fft_ifft2 fft_rfft2 fft_ihfft2 "
                "fft_fftn fft_ifftn fft_rfftn fft_ihfftn view_as_complex complex polar");
    return names;
}

/// ... those that take them apart again
const Names& realMaking()
{
    static const Names names
        = words("fft_irfft fft_hfft fft_irfft2 fft_hfft2 fft_irfftn fft_hfftn view_as_real real "
                "imag abs norm linalg_vector_norm linalg_norm std var");
    return names;
}

/// ... and those that promote two operands, numbers of their own kind left alone.
const Names& promoting()
{
    static const Names names {
        "add",       "sub",     "mul",          "cat",   "stack",   "where",     "maximum",
        "minimum",   "addcmul", "addcdiv",      "lerp",  "baddbmm", "rsub",      "pow",
        "remainder", "fmod",    "floor_divide", "hypot", "clamp",   "clamp_min", "clamp_max"};
    return names;
}

DType firstType(const Node& node, const TypeOf& typeOf)
{
    std::optional<DType> found;
    for (const auto& arg : node.args)
        forEachRef(arg.value, [&](ValueRef ref) {
            if (!found && typeOf(ref).kind == ValueKind::Tensor)
                found = typeOf(ref).dtype;
        });
    return found.value_or(DType::Unknown);
}

/// What PyTorch promotes the operands to (torch.result_type): tensors without dimensions, and
/// numbers, count where they are of a higher kind only. Unknown unless all of it is known.
DType promotedType(const Node& node, const TypeOf& typeOf, const RankOf& rankOf)
{
    std::array<std::optional<DType>, 3> classes; // tensors, tensors without dimensions, numbers
    bool known = true;
    const auto take = [&](std::size_t which, DType dtype) {
        known = known && dtype != DType::Unknown;
        if (known)
            classes[which] = classes[which] ? promotedTypes(*classes[which], dtype) : dtype;
    };
    bool ranked = true, same = true;
    std::optional<DType> common;
    for (const auto& arg : node.args) {
        forEachRef(arg.value, [&](ValueRef ref) {
            const ValueType& type = typeOf(ref);
            if (type.kind != ValueKind::Tensor) {
                take(2,
                     type.kind == ValueKind::SymFloat     ? DType::Float32
                         : type.kind == ValueKind::SymInt ? DType::Int64
                                                          : DType::Bool);
                return;
            }
            const auto rank = rankOf(ref);
            ranked = ranked && rank;
            same = same && (!common || *common == type.dtype);
            common = type.dtype;
            take(rank.value_or(1) > 0 ? 0 : 1, type.dtype);
        });
        if (arg.name != "alpha" && arg.name != "dim" && (arg.value.asDouble() || arg.value.asInt()))
            take(2, arg.value.asDouble() ? DType::Float32 : DType::Int64);
    }
    if (!known || !common || (!same && !ranked))
        return DType::Unknown;
    std::optional<DType> result;
    for (const auto& dtype : classes)
        if (dtype && (!result || typeKind(*dtype) > typeKind(*result)))
            result = dtype;
    return *result;
}

/// The complex type of the same precision; of integers that of float32.
DType complexOf(DType dtype)
{
    const bool wide = dtype == DType::Float64 || dtype == DType::Complex128;
    const bool narrow = dtype == DType::Unknown || dtype == DType::Float16;
    return wide ? DType::Complex128 : narrow ? DType::Unknown : DType::Complex64;
}

/// What the parts of a complex type are; others are themselves.
DType realOf(DType dtype)
{
    return dtype == DType::Complex64 ? DType::Float32
        : dtype == DType::Complex128 ? DType::Float64
                                     : dtype;
}

const Argument* given(const Node& node, std::string_view name)
{
    const Argument* arg = node.tryArg(name);
    return arg && !arg->isNone() ? arg : nullptr;
}

bool isTrue(const Argument* flag)
{
    return flag && flag->asBool() && *flag->asBool();
}

/// What stft, or its inverse, makes of the type.
DType spectrumType(const Node& node, bool forward, DType of)
{
    const bool isComplex = isTrue(given(node, "return_complex"));
    return isComplex && of != DType::Unknown ? complexOf(of)
        : forward && !isComplex              ? of
                                             : realOf(of);
}

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

void inferTypes(Node& node, const TypeOf& typeOf, const RankOf& rankOf)
{
    if (node.outputs.empty() || !node.target.starts_with("aten."))
        return;
    const std::string name = baseName(node.target);
    DType dtype = DType::Unknown;
    if (const Argument* wanted = given(node, "dtype"))
        dtype = wanted->asDType() ? *wanted->asDType() : DType::Unknown;
    else if (comparisons().contains(name))
        dtype = DType::Bool;
    else if (indices().contains(name))
        dtype = isTrue(given(node, "out_int32")) ? DType::Int32 : DType::Int64;
    else if (name == "embedding" || firstOperand().contains(name))
        dtype = firstType(node, typeOf);
    else if (name == "to" && given(node, "other"))
        dtype = given(node, "other")->asRef() ? typeOf(*given(node, "other")->asRef()).dtype
                                              : DType::Unknown;
    else if (promoting().contains(name)) {
        dtype = promotedType(node, typeOf, rankOf);
    } else if (floatMaking().contains(name)) {
        dtype = promotedType(node, typeOf, rankOf);
        if (dtype != DType::Unknown && typeKind(dtype) < typeKind(DType::Float32)
            && !given(node, "rounding_mode")) // which keeps whole numbers
            dtype = DType::Float32;
        dtype = name == "angle" ? realOf(dtype) : dtype;
    } else if (adding().contains(name)) {
        dtype = firstType(node, typeOf);
        if (dtype != DType::Unknown && typeKind(dtype) < typeKind(DType::Float32))
            dtype = DType::Int64;
    } else if (complexMaking().contains(name)) {
        dtype = complexOf(firstType(node, typeOf));
    } else if (realMaking().contains(name)) {
        dtype = realOf(firstType(node, typeOf));
        if (name.starts_with("fft_") && dtype != DType::Unknown
            && typeKind(dtype) < typeKind(DType::Float32))
            dtype = DType::Float32;
    } else if (name == "stft" || name == "istft") {
        dtype = spectrumType(node, name == "stft", firstType(node, typeOf));
    } else if ((name == "zeros" || name == "ones" || name == "rand" || name == "randn"
                || name == "empty")) {
        dtype = DType::Float32;
    }
    if (name == "where" || name == "arange" || name == "full")
        dtype = given(node, "dtype") ? dtype : DType::Unknown;
    for (Value& value : node.outputs)
        if (value.type.isUntyped())
            value.type.dtype = dtype;
    const bool indexed = name == "topk" || name == "sort" || name == "kthvalue" || name == "cummax"
        || name == "cummin" || ((name == "max" || name == "min") && node.outputs.size() == 2)
        || name.ends_with("_with_indices");
    if (indexed && node.outputs.size() == 2) {
        node.outputs[0].type.dtype = firstType(node, typeOf);
        node.outputs[1].type.dtype = DType::Int64;
    }
}

std::optional<std::int64_t> inferRank(const Node& node, const RankOf& rankOf)
{
    if (node.outputs.empty() || !node.target.starts_with("aten.")
        || node.outputs[0].type.kind != ValueKind::Tensor)
        return std::nullopt;
    const std::string name = baseName(node.target);
    const auto operand = [&](std::size_t index) -> std::optional<std::int64_t> {
        const auto* ref = index < node.args.size() ? node.args[index].value.asRef() : nullptr;
        return ref ? rankOf(*ref) : std::nullopt;
    };
    static const Names same
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
    static const Names broadcasting
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
    static const Names reducing = words("mean sum amax amin std var max min prod logsumexp norm "
                                        "argmax argmin all any linalg_vector_norm");
    if (reducing.contains(name))
        return reducedRank(node, operand(0));
    if (name == "stft") {
        const bool pairs = !isTrue(given(node, "return_complex"));
        const auto rank = operand(0);
        return rank ? std::optional(*rank + (pairs ? 2 : 1)) : std::nullopt;
    }
    static const Names asOther = words("expand_as view_as reshape_as");
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

bool ranksAgree(const Node& node)
{
    static const Names alike
        = words("chunk split split_with_sizes tensor_split unbind meshgrid sort topk max "
                "min unsafe_chunk unsafe_split");
    return node.target.starts_with("aten.") && alike.contains(baseName(node.target));
}

} // namespace qs
