// SPDX-License-Identifier: Apache-2.0
// Over 400 lines because all spellings of the operators stand in one place, mostly as tables.
#include "engine/plan/op_vocabulary.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <set>

namespace qs {

namespace {

using NameSet = std::set<std::string, std::less<>>;
using OpTable = std::map<std::string, NameSet, std::less<>>;

/// Operators that stand for one user-visible operation beside the one of its own name, by the
/// user's function name without prefix, or the torch.nn class name.
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

// torch.nn.functional's own names for what are built-in functions of torch.
const NameSet& functionalBuiltins()
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
    return names;
}

// Without a record of what was called, these are taken for functions of torch.nn.functional ...
const NameSet& functionalByDefault()
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
    return names;
}

// ... and these for tensor methods.
const NameSet& methodsByDefault()
{
    static const NameSet names {"view",   "reshape", "permute", "contiguous", "repeat", "detach",
                                "resize", "expand",  "size",    "t",          "to",     "clone",
                                "chunk",  "split",   "select",  "masked_fill"};
    return names;
}

std::string lowerFlat(std::string_view text)
{
    std::string out;
    for (const char c : text)
        if (c != '_')
            out += char(std::tolower(static_cast<unsigned char>(c)));
    return out;
}

/// True when the ATen operator `base` is what the user-visible function or class `word` does.
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

std::string_view lastPart(std::string_view name)
{
    const auto dot = name.rfind('.');
    return dot == std::string_view::npos ? name : name.substr(dot + 1);
}

std::string withoutInPlace(std::string_view word)
{
    if (word.size() > 1 && word.back() == '_' && word[word.size() - 2] != '_')
        word.remove_suffix(1);
    return std::string(word);
}

std::string baseOf(std::string_view target)
{
    const auto space = target.find_first_of(".:");
    if (space == std::string_view::npos)
        return withoutInPlace(target);
    target.remove_prefix(target[space] == ':' ? space + 2 : space + 1);
    return withoutInPlace(target.substr(0, target.find('.')));
}

/// Python's operator behind a tensor method: `x + y` and `x.add(y)` look the same in an export, and
/// the first is what people write.
std::string operatorName(const std::string& word)
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

/// Where a slice is added to in place, the nodes that put it back into its tensor are parts of that
/// call, and no additions.
bool isOnlyPartOf(const std::string& name, const std::string& base)
{
    return (name == "operator.add" || name == "operator.mul") && !isMainOp(lastPart(name), base);
}

std::string functionName(const std::string& word)
{
    return (functionalBuiltins().count(word) || functionalByDefault().count(word)
                ? "torch.nn.functional."
                : "torch.")
        + word;
}

/// From the `torch_fn` record, "function.relu": what kind of callable and its name.
OpName nameFromRecord(const std::string& record, const std::string& base)
{
    const auto dot = record.find('.');
    const std::string kind = record.substr(0, dot);
    const std::string word = withoutInPlace(record.substr(dot + 1));
    OpName out;
    out.base = base;
    out.kind = OpName::Kind::Function;
    const std::string plain = word.starts_with("__") ? word.substr(2, word.size() - 4) : word;
    if (kind == "method_descriptor" || kind == "wrapper_descriptor" || word.starts_with("__")) {
        out.name = operatorName(word);
        if (out.name.empty() || isOnlyPartOf(out.name, base)) {
            out.kind = isMainOp(plain, base) ? OpName::Kind::Method : OpName::Kind::Inside;
            out.name = word;
        }
        return out;
    }
    // A built-in of torch is torch.relu even where torch.nn.functional has a relu of its own.
    const bool builtin = kind.starts_with("builtin");
    out.name
        = (builtin && !functionalBuiltins().count(word) ? "torch." : "torch.nn.functional.") + word;
    if (!isMainOp(plain, base))
        out.kind = OpName::Kind::Inside;
    return out;
}

/// How many spatial dimensions a convolution's arguments tell of; 0 when they do not.
std::size_t convolutionRank(const Node& node)
{
    for (const char* key : {"stride", "padding", "dilation"})
        if (const Argument* arg = node.tryArg(key))
            if (const auto* list = arg->asList())
                if (list->size() > 1)
                    return list->size();
    return node.outputs.empty() || node.outputs[0].type.shape.size() < 3
        ? 0
        : node.outputs[0].type.shape.size() - 2;
}

// Core ATen's spellings of what users call otherwise.
const std::map<std::string, std::string, std::less<>> kCoreSpellings {
    {"_softmax", "softmax"},
    {"_log_softmax", "log_softmax"},
    {"_prelu_kernel", "prelu"},
    {"_unsafe_view", "view"},
    {"native_dropout", "dropout"},
    {"native_layer_norm", "layer_norm"},
    {"native_group_norm", "group_norm"},
    {"native_batch_norm", "batch_norm"},
    {"cudnn_batch_norm", "batch_norm"},
    {"_batch_norm_impl_index", "batch_norm"},
    {"_batch_norm_with_update", "batch_norm"},
    {"_native_batch_norm_legit", "batch_norm"},
    {"_native_batch_norm_legit_no_training", "batch_norm"},
    {"max_pool1d_with_indices", "max_pool1d"},
    {"max_pool2d_with_indices", "max_pool2d"},
    {"max_pool3d_with_indices", "max_pool3d"},
    {"_adaptive_avg_pool2d", "adaptive_avg_pool2d"},
    {"_adaptive_avg_pool3d", "adaptive_avg_pool3d"},
};

OpName nameFromTarget(const Node& node, const std::string& base)
{
    OpName out;
    out.base = base;
    out.kind = OpName::Kind::Function;
    std::string word = base;
    if (base == "convolution" || base == "_convolution") {
        const Argument* transposed = node.tryArg("transposed");
        const bool back = transposed && transposed->asBool() && *transposed->asBool();
        const std::size_t rank = convolutionRank(node);
        word = (back ? "conv_transpose" : "conv") + std::to_string(rank ? rank : 2) + "d";
    } else if (base.starts_with("upsample") || base.starts_with("_upsample")) {
        word = "interpolate";
    } else if (const auto plain = kCoreSpellings.find(base); plain != kCoreSpellings.end()) {
        word = plain->second;
    }
    const std::string written = operatorName(word);
    const std::string method = written.empty() ? word : written;
    if (!written.empty() && word != "matmul" && word != "pow") {
        out.name = written;
    } else if (methodsByDefault().count(word)) {
        out.kind = OpName::Kind::Method;
        out.name = word;
    } else {
        out.name = functionName(word);
    }
    for (const std::string& other :
         {functionName(word), canonicalTypeName("torch." + word), method})
        if (other != out.name
            && std::find(out.others.begin(), out.others.end(), other) == out.others.end())
            out.others.push_back(other);
    return out;
}

/// A region such as `with torch.no_grad()` stands in the record of all that was in it.
bool isOfRegion(const std::string& record)
{
    return record.starts_with("WrapWith");
}

/// In a region an operator names itself; one that only moves elements may be a part of a call, such
/// as the views of a product.
OpName nameInRegion(const Node& node, const std::string& base)
{
    static const NameSet moving {"view",      "_unsafe_view", "permute", "expand",
                                 "unsqueeze", "squeeze",      "clone",   "_to_copy",
                                 "alias",     "slice",        "select",  "cat"};
    OpName out = nameFromTarget(node, base);
    if (moving.count(base))
        out.kind = OpName::Kind::Inside;
    return out;
}

} // namespace

OpName opNameOf(const Node& node)
{
    if (node.kind != NodeKind::Op && node.kind != NodeKind::ModuleCall)
        return {};
    const std::string base = baseOf(node.target);
    const std::string& owner = node.scope.moduleClass;
    if (node.kind == NodeKind::ModuleCall)
        return {OpName::Kind::Module, canonicalTypeName(owner.empty() ? node.target : owner), base};
    if (owner.starts_with("torch.nn.") || owner.starts_with("torch.ao.nn.")) {
        const std::string_view word = lastPart(owner);
        const bool container = word == "Sequential" || word == "ModuleList" || word == "ModuleDict";
        if (!container)
            return {isMainOp(word, base) ? OpName::Kind::Module : OpName::Kind::Inside,
                    canonicalTypeName(owner), base};
    }
    if (isOfRegion(node.torchFn))
        return nameInRegion(node, base);
    if (node.torchFn.find('.') != std::string::npos)
        return nameFromRecord(node.torchFn, base);
    return nameFromTarget(node, base);
}

OpName ownNameOf(const Node& node)
{
    const std::string base = baseOf(node.target);
    OpName out = node.torchFn.find('.') != std::string::npos ? nameFromRecord(node.torchFn, base)
                                                             : OpName {};
    // The record may be of the composite function around it.
    const bool isOwn = out.kind == OpName::Kind::Function || out.kind == OpName::Kind::Method;
    return isOwn ? out : nameFromTarget(node, base);
}

ArgumentRole argumentRole(const Node& node, const OpName& name, std::size_t argument)
{
    const std::string& word = node.args.at(argument).name;
    if (name.base == "addmm" && (name.isModule() || name.name.ends_with(".linear"))) {
        if (word == "self" || word == "input")
            return ArgumentRole::Bias;
        return word == "mat2" ? ArgumentRole::Weight : ArgumentRole::Activation;
    }
    if (name.base == "mm" && (name.isModule() || name.name.ends_with(".linear")))
        return word == "mat2" ? ArgumentRole::Weight : ArgumentRole::Activation;
    if (word == "weight" || word == "w_ih" || word == "w_hh")
        return ArgumentRole::Weight;
    if (word == "bias" || word == "b_ih" || word == "b_hh")
        return ArgumentRole::Bias;
    static const NameSet states {"running_mean", "running_var", "params", "batch_sizes"};
    return states.count(word) ? ArgumentRole::State : ArgumentRole::Activation;
}

std::string canonicalTypeName(std::string_view name)
{
    const auto starts = [&name](std::string_view prefix) {
        if (!name.starts_with(prefix))
            return false;
        name.remove_prefix(prefix.size());
        return true;
    };
    if (starts("torch.nn.modules."))
        return "torch.nn." + std::string(lastPart(name));
    if (starts("torch.ao.nn.intrinsic.modules."))
        return "torch.ao.nn.intrinsic." + std::string(lastPart(name));
    if (starts("torch.nn.intrinsic."))
        return "torch.ao.nn.intrinsic." + std::string(lastPart(name));
    if (starts("torch.Tensor.") || starts("Tensor."))
        return withoutInPlace(name);
    if (starts("_operator."))
        return "operator." + std::string(name);
    if (name.find('.') == std::string_view::npos)
        return withoutInPlace(name);
    const std::string word = withoutInPlace(lastPart(name));
    if (name == "torch." + std::string(lastPart(name)))
        return (functionalBuiltins().count(word) ? "torch.nn.functional." : "torch.") + word;
    if (name.starts_with("torch.nn.functional."))
        return "torch.nn.functional." + word;
    return std::string(name);
}

} // namespace qs
