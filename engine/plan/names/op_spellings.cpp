// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/names/op_spellings.h"

#include "engine/graph/operators/operators.h"

#include <cctype>
#include <map>
#include <set>

namespace qs {

namespace {

using NameSet = std::set<std::string, std::less<>>;
using OpTable = std::map<std::string, NameSet, std::less<>>;

/// Operators that implement a user-visible operation under other names, by the user's function name
/// without prefix, or the torch.nn class name.
const OpTable& mainOps()
{
    static const NameSet conv {"convolution", "_convolution", "conv1d", "conv2d", "conv3d"};
    static const NameSet transposed {"convolution", "_convolution", "conv_transpose1d",
                                     "conv_transpose2d", "conv_transpose3d"};
    static const NameSet norm {"batch_norm",
                               "_native_batch_norm_legit_no_training",
                               "_native_batch_norm_legit",
                               "native_batch_norm",
                               "_batch_norm_with_update",
                               "cudnn_batch_norm",
                               "_batch_norm_impl_index"};
    static const OpTable table {
        {"conv1d", conv},
        {"conv2d", conv},
        {"conv3d", conv},
        {"Conv1d", conv},
        {"Conv2d", conv},
        {"Conv3d", conv},
        {"conv_transpose1d", transposed},
        {"conv_transpose2d", transposed},
        {"conv_transpose3d", transposed},
        {"ConvTranspose1d", transposed},
        {"ConvTranspose2d", transposed},
        {"ConvTranspose3d", transposed},
        {"linear", {"linear", "addmm", "mm"}},
        {"Linear", {"linear", "addmm", "mm"}},
        {"batch_norm", norm},
        {"BatchNorm1d", norm},
        {"BatchNorm2d", norm},
        {"BatchNorm3d", norm},
        {"ReLU", {"relu", "clamp_min", "threshold"}},
        {"ReLU6", {"relu6", "hardtanh", "clamp"}},
        {"relu6", {"relu6", "hardtanh", "clamp"}},
        {"Hardtanh", {"hardtanh", "clamp"}},
        {"hardtanh", {"hardtanh", "clamp"}},
        {"RNN", {"rnn_tanh", "rnn_relu"}},
        {"RNNCell", {"rnn_tanh_cell", "rnn_relu_cell"}},
        {"PReLU", {"prelu", "_prelu_kernel"}},
        {"Dropout", {"dropout", "native_dropout"}},
        {"MaxPool1d", {"max_pool1d", "max_pool1d_with_indices"}},
        {"MaxPool2d", {"max_pool2d", "max_pool2d_with_indices"}},
        {"MaxPool3d", {"max_pool3d", "max_pool3d_with_indices"}},
        {"max_pool1d", {"max_pool1d", "max_pool1d_with_indices"}},
        {"max_pool2d", {"max_pool2d", "max_pool2d_with_indices"}},
        {"max_pool3d", {"max_pool3d", "max_pool3d_with_indices"}},
        {"AdaptiveAvgPool1d", {"adaptive_avg_pool1d", "mean"}},
        {"AdaptiveAvgPool2d", {"adaptive_avg_pool2d", "_adaptive_avg_pool2d", "mean"}},
        {"AdaptiveAvgPool3d", {"adaptive_avg_pool3d", "_adaptive_avg_pool3d", "mean"}},
        {"adaptive_avg_pool1d", {"adaptive_avg_pool1d", "mean"}},
        {"adaptive_avg_pool2d", {"adaptive_avg_pool2d", "_adaptive_avg_pool2d", "mean"}},
        {"adaptive_avg_pool3d", {"adaptive_avg_pool3d", "_adaptive_avg_pool3d", "mean"}},
        {"InstanceNorm1d", {"instance_norm"}},
        {"InstanceNorm2d", {"instance_norm"}},
        {"InstanceNorm3d", {"instance_norm"}},
        {"LayerNorm", {"layer_norm", "native_layer_norm"}},
        {"layer_norm", {"layer_norm", "native_layer_norm"}},
        {"GroupNorm", {"group_norm", "native_group_norm"}},
        {"group_norm", {"group_norm", "native_group_norm"}},
        {"dropout", {"dropout", "native_dropout"}},
        {"Flatten", {"flatten", "view", "reshape"}},
        {"flatten", {"flatten", "view", "reshape"}},
        {"reshape", {"reshape", "view", "_unsafe_view"}},
        {"view", {"view", "_unsafe_view"}},
        {"matmul", {"matmul", "mm", "bmm"}},
        {"transpose", {"transpose", "permute"}},
        {"narrow", {"narrow", "slice"}},
        {"pad", {"pad", "constant_pad_nd"}},
        {"contiguous", {"contiguous", "clone"}},
    };
    return table;
}

std::string lowerFlat(std::string_view text)
{
    std::string out;
    for (const char c : text)
        if (c != '_')
            out += char(std::tolower(static_cast<unsigned char>(c)));
    return out;
}

} // namespace

bool isMainOp(std::string_view word, const std::string& base)
{
    const auto row = mainOps().find(word);
    if (row != mainOps().end() && row->second.count(base))
        return true;
    if (word == "interpolate" || word == "upsample" || word == "Upsample"
        || word.starts_with("Upsampling"))
        return base.starts_with("upsample") || base.starts_with("_upsample");
    return lowerFlat(word) == lowerFlat(base);
}

std::string plainSpelling(const std::string& base)
{
    const std::string& plain = factsOf("aten." + base).plain;
    return plain.empty() ? base : plain;
}

std::string pythonOperator(const std::string& word)
{
    static const std::map<std::string, std::string, std::less<>> names {
        {"add", "operator.add"},
        {"mul", "operator.mul"},
        {"sub", "operator.sub"},
        {"div", "operator.truediv"},
        {"true_divide", "operator.truediv"},
        {"floor_divide", "operator.floordiv"},
        {"__floordiv__", "operator.floordiv"},
        {"matmul", "operator.matmul"},
        {"__getitem__", "operator.getitem"},
        {"pow", "operator.pow"},
        {"neg", "operator.neg"},
        {"__add__", "operator.add"},
        {"__mul__", "operator.mul"},
        {"__radd__", "operator.add"},
        {"__rmul__", "operator.mul"},
        {"__iadd__", "operator.add"},
        {"__imul__", "operator.mul"}};
    const auto found = names.find(word);
    return found == names.end() ? std::string() : found->second;
}

bool isFunctionalBuiltin(const std::string& word)
{
    static const NameSet names {"conv1d",
                                "conv2d",
                                "conv3d",
                                "conv_transpose1d",
                                "conv_transpose2d",
                                "conv_transpose3d",
                                "conv_tbc",
                                "avg_pool1d",
                                "avg_pool2d",
                                "avg_pool3d",
                                "adaptive_avg_pool1d",
                                "linear",
                                "bilinear",
                                "pixel_shuffle",
                                "pixel_unshuffle",
                                "channel_shuffle",
                                "native_channel_shuffle",
                                "gelu",
                                "softplus",
                                "logsigmoid",
                                "hardshrink",
                                "softshrink",
                                "prelu",
                                "one_hot",
                                "pairwise_distance",
                                "pdist",
                                "cosine_similarity",
                                "scaled_dot_product_attention"};
    return names.count(word) > 0;
}

bool isFunctionalByDefault(const std::string& word)
{
    static const NameSet names {"relu",
                                "relu6",
                                "leaky_relu",
                                "elu",
                                "hardtanh",
                                "hardswish",
                                "hardsigmoid",
                                "dropout",
                                "softmax",
                                "log_softmax",
                                "silu",
                                "mish",
                                "selu",
                                "celu",
                                "max_pool1d",
                                "max_pool2d",
                                "max_pool3d",
                                "adaptive_avg_pool2d",
                                "adaptive_avg_pool3d",
                                "batch_norm",
                                "layer_norm",
                                "group_norm",
                                "instance_norm",
                                "embedding",
                                "pad",
                                "interpolate",
                                "normalize"};
    return names.count(word) > 0;
}

bool isMethodByDefault(const std::string& word)
{
    static const NameSet names {"view",   "reshape", "permute",   "contiguous", "repeat",
                                "detach", "resize",  "size",      "expand",     "t",
                                "to",     "clone",   "chunk",     "split",      "mean",
                                "select", "squeeze", "unsqueeze", "masked_fill"};
    return names.count(word) > 0;
}

} // namespace qs
