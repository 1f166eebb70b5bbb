// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/operators/rows/operator_rows.h"

namespace qs {

namespace {

using T = ResultType;
using R = ResultRank;
using X = OperatorTrait;
using Clamp = OperatorClamp;

constexpr OperatorRow kConvolutions[] = {
    {"_convolution", T::Unknown, R::Unknown, {X::AllocatesResult}, "", {"input", "weight", "bias"}},
    {"conv1d", T::First, R::First, {X::AllocatesResult}, "", {"input", "weight", "bias"}},
    {"conv2d", T::First, R::First, {X::AllocatesResult}, "", {"input", "weight", "bias"}},
    {"conv3d", T::First, R::First, {X::AllocatesResult}, "", {"input", "weight", "bias"}},
    {"convolution", T::Unknown, R::Unknown, {}, "", {"input", "weight", "bias"}},
};

constexpr OperatorRow kTransposedConvolutions[] = {
    {"conv_transpose1d", T::First, R::First, {X::AllocatesResult}, "", {"input", "weight", "bias"}},
    {"conv_transpose2d", T::First, R::First, {X::AllocatesResult}, "", {"input", "weight", "bias"}},
    {"conv_transpose3d", T::First, R::First, {X::AllocatesResult}, "", {"input", "weight", "bias"}},
};

constexpr OperatorRow kProducts[] = {
    {"addmm", T::First, R::Two, {}, "", {"mat1", "mat2", "self"}},
    {"baddbmm", T::Unknown, R::Three, {}, "", {"batch1", "", ""}},
    {"bmm", T::First, R::Three, {}, "", {"self", "", ""}},
    {"linear", T::First, R::First, {X::AllocatesResult}, "", {"input", "weight", "bias"}},
    {"matmul", T::First, R::Unknown, {X::AllocatesResult}, "", {"self", "", ""}},
    {"mm", T::First, R::Two, {}, "", {"self", "mat2", ""}},
};

constexpr OperatorRow kEmbeddings[] = {
    {"embedding", T::First, R::Unknown, {}, "", {"indices", "weight", ""}},
    {"embedding_bag", T::Unknown, R::Unknown, {X::AllocatesResult}, "", {"indices", "weight", ""}},
};

constexpr OperatorRow kRecurrent[] = {
    {"gru", T::First, R::First, {X::AllocatesResult}},
    {"lstm", T::First, R::First, {X::AllocatesResult}},
    {"rnn_relu", T::First, R::First, {X::AllocatesResult}},
    {"rnn_tanh", T::First, R::First, {X::AllocatesResult}},
};

constexpr OperatorRow kAttentions[] = {
    {"scaled_dot_product_attention", T::First, R::First, {X::AllocatesResult}},
};

constexpr OperatorRow kNorms[] = {
    {"_batch_norm_impl_index", T::Unknown, R::Unknown, {X::AllocatesResult}, "batch_norm"},
    {"_batch_norm_with_update", T::Unknown, R::Unknown, {}, "batch_norm"},
    {"_native_batch_norm_legit", T::Unknown, R::Unknown, {}, "batch_norm"},
    {"_native_batch_norm_legit_no_training", T::Unknown, R::Unknown, {}, "batch_norm"},
    {"batch_norm", T::First, R::First, {X::AllocatesResult}},
    {"cudnn_batch_norm", T::Unknown, R::Unknown, {}, "batch_norm"},
    {"group_norm", T::First, R::First, {X::AllocatesResult}},
    {"instance_norm", T::First, R::First, {X::AllocatesResult}},
    {"layer_norm", T::First, R::First, {X::AllocatesResult}},
    {"native_batch_norm", T::Unknown, R::Unknown, {}, "batch_norm"},
    {"native_group_norm", T::Unknown, R::Unknown, {}, "group_norm"},
    {"native_layer_norm", T::Unknown, R::Unknown, {}, "layer_norm"},
};

constexpr OperatorRow kPooling[] = {
    {"_adaptive_avg_pool2d", T::Unknown, R::Unknown, {X::ScalesByChannel}, "adaptive_avg_pool2d"},
    {"_adaptive_avg_pool3d", T::Unknown, R::Unknown, {X::ScalesByChannel}, "adaptive_avg_pool3d"},
    {"adaptive_avg_pool1d", T::First, R::First, {X::AllocatesResult, X::ScalesByChannel}},
    {"adaptive_avg_pool2d", T::First, R::First, {X::AllocatesResult, X::ScalesByChannel}},
    {"adaptive_avg_pool3d", T::First, R::First, {X::AllocatesResult, X::ScalesByChannel}},
    {"avg_pool1d", T::First, R::First, {X::AllocatesResult, X::ScalesByChannel}},
    {"avg_pool2d", T::First, R::First, {X::ScalesByChannel}},
    {"avg_pool3d", T::First, R::First, {X::ScalesByChannel}},
    {"max_pool1d", T::First, R::First, {X::AllocatesResult, X::ScalesByChannel}},
    {"max_pool1d_with_indices",
     T::Unknown,
     R::Unknown,
     {X::AllocatesResult, X::GivesIndices},
     "max_pool1d"},
    {"max_pool2d", T::First, R::First, {X::AllocatesResult, X::FastByChannel, X::ScalesByChannel}},
    {"max_pool2d_with_indices",
     T::Unknown,
     R::Unknown,
     {X::GivesIndices, X::ScalesByChannel},
     "max_pool2d"},
    {"max_pool3d", T::First, R::First, {X::AllocatesResult, X::ScalesByChannel}},
    {"max_pool3d_with_indices",
     T::Unknown,
     R::Unknown,
     {X::GivesIndices, X::ScalesByChannel},
     "max_pool3d"},
};

constexpr OperatorRow kActivations[] = {
    {"_log_softmax", T::Unknown, R::Unknown, {}, "log_softmax"},
    {"_prelu_kernel", T::Unknown, R::Unknown, {X::ScalesByChannel}, "prelu"},
    {"_softmax", T::Unknown, R::Unknown, {}, "softmax"},
    {"celu", T::Unknown, R::First},
    {"elu", T::First, R::First},
    {"gelu", T::First, R::First},
    {"glu", T::First, R::First},
    {"hardshrink", T::Unknown, R::First},
    {"hardsigmoid", T::First, R::First},
    {"hardswish", T::First, R::First, {X::WorksInPlace}},
    {"hardtanh",
     T::First,
     R::First,
     {X::WorksInPlace},
     "",
     {},
     Clamp {-1, 1, "min_val", "max_val"}},
    {"leaky_relu", T::First, R::First, {X::WorksInPlace, X::ScalesByChannel}},
    {"log_sigmoid", T::First, R::First, {X::AllocatesResult}},
    {"log_softmax", T::First, R::First, {X::AllocatesResult}},
    {"mish", T::First, R::First},
    {"prelu", T::First, R::First, {X::AllocatesResult, X::ScalesByChannel}},
    {"relu", T::First, R::First, {X::WorksInPlace, X::ScalesByChannel}, "", {}, Clamp {0}},
    {"relu6", T::First, R::First, {X::WorksInPlace, X::AllocatesResult}, "", {}, Clamp {0, 6}},
    {"rrelu", T::Unknown, R::Unknown, {X::AllocatesResult}},
    {"selu", T::Unknown, R::First, {X::AllocatesResult}},
    {"sigmoid", T::Unknown, R::First},
    {"silu", T::First, R::First, {X::WorksInPlace}},
    {"softmax", T::First, R::First, {X::AllocatesResult}},
    {"softplus", T::First, R::First},
    {"softshrink", T::Unknown, R::First},
    {"tanh", T::Unknown, R::First},
    {"threshold", T::Unknown, R::First},
};

constexpr OperatorRow kCombining[] = {
    {"add", T::Unknown, R::Unknown, {X::Folds}},
    {"cat", T::Unknown, R::Unknown, {X::PartOfCalls}},
    {"concat", T::Unknown, R::Unknown, {X::AllocatesResult}},
    {"concatenate", T::Unknown, R::Unknown, {X::AllocatesResult}},
    {"div", T::Unknown, R::Unknown, {X::Folds}},
    {"mul", T::Unknown, R::Unknown, {X::Folds}},
    {"stack"},
    {"sub", T::Unknown, R::Unknown, {X::Folds}},
};

} // namespace

std::span<const OperatorRows> layerRows()
{
    static constexpr OperatorRows kFamilies[] = {
        {OperatorFamily::Convolution, kConvolutions},
        {OperatorFamily::TransposedConvolution, kTransposedConvolutions},
        {OperatorFamily::Product, kProducts},
        {OperatorFamily::Embedding, kEmbeddings},
        {OperatorFamily::Recurrent, kRecurrent},
        {OperatorFamily::Attention, kAttentions},
        {OperatorFamily::Norm, kNorms},
        {OperatorFamily::Pooling, kPooling},
        {OperatorFamily::Activation, kActivations},
        {OperatorFamily::Combining, kCombining},
    };
    return kFamilies;
}

} // namespace qs
