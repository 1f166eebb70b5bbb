// SPDX-License-Identifier: Apache-2.0
#include "engine/import/torchscript/normalise/torchscript_types.h"

#include "engine/import/operator_words.h"
#include "engine/import/type_promotion.h"

#include <string>

namespace qs {

namespace {

const Words& comparisons()
{
    static const Words names {
        "eq",    "ne",          "lt",         "le",          "gt",
        "ge",    "logical_and", "logical_or", "logical_not", "logical_xor",
        "isnan", "isinf",       "isfinite",   "isin",        "bitwise_not_bool"};
    return names;
}

const Words& indices()
{
    static const Words names {"argmax",    "argmin",       "argsort", "nonzero", "bincount",
                              "bucketize", "searchsorted", "numel",   "one_hot", "count_nonzero"};
    return names;
}

/// Operators whose result has the dtype of their first tensor, whatever the others are.
const Words& firstOperand()
{
    static const Words names = words(
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

/// ... those that add up, integers to int64
const Words& adding()
{
    static const Words names {"sum", "prod", "cumsum", "cumprod"};
    return names;
}

/// ... those that make complex numbers
const Words& complexMaking()
{
    static const Words names
        = words("fft_fft fft_ifft fft_rfft fft_ihfft fft_fft2 fft_ifft2 fft_rfft2 fft_ihfft2 "
                "fft_fftn fft_ifftn fft_rfftn fft_ihfftn view_as_complex complex polar");
    return names;
}

/// ... those that take them apart again
const Words& realMaking()
{
    static const Words names
        = words("fft_irfft fft_hfft fft_irfft2 fft_hfft2 fft_irfftn fft_hfftn view_as_real real "
                "imag abs norm linalg_vector_norm linalg_norm std var");
    return names;
}

/// ... and those that promote two operands, numbers of their own kind left alone.
const Words& promoting()
{
    static const Words names {
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

/// What stft, or its inverse, makes of the type.
DType spectrumType(const Node& node, bool forward, DType of)
{
    const bool isComplex = isTrue(given(node, "return_complex"));
    return isComplex && of != DType::Unknown ? complexOf(of)
        : forward && !isComplex              ? of
                                             : realOf(of);
}

} // namespace

void inferTypes(Node& node, const TypeOf& typeOf, const RankOf& rankOf)
{
    if (node.outputs.empty() || !node.target.starts_with("aten."))
        return;
    const std::string name = operatorWord(node.target);
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

} // namespace qs
