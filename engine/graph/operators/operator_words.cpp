// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/operators/operator_words.h"

#include "engine/graph/operators/operator_name.h"
#include "engine/graph/operators/operators.h"

#include <algorithm>
#include <cctype>
#include <map>

namespace qs {

namespace {

using Text = std::string_view;

/// A sparse column of the operator table: a value and a list of words, separated by blanks.
struct WordRow
{
    Text value, words, sign = {}; ///< Python's sign for the first word
};

/// Operators that implement a user's word under other names. A lowercase word also stands for the
/// class ("conv2d" for "Conv2d"); a capitalized word stands for the class only.
constexpr WordRow kImplementations[] = {
    {"conv1d conv2d conv3d", "convolution _convolution conv1d conv2d conv3d"},
    {"conv_transpose1d conv_transpose2d conv_transpose3d",
     "convolution _convolution conv_transpose1d conv_transpose2d conv_transpose3d"},
    {"linear", "addmm mm"},
    {"batch_norm batch_norm1d batch_norm2d batch_norm3d",
     "batch_norm _native_batch_norm_legit_no_training _native_batch_norm_legit native_batch_norm "
     "_batch_norm_with_update cudnn_batch_norm _batch_norm_impl_index"},
    {"ReLU", "clamp_min threshold"},
    {"relu6", "hardtanh clamp"},
    {"hardtanh", "clamp"},
    {"rnn", "rnn_tanh rnn_relu"},
    {"rnn_cell", "rnn_tanh_cell rnn_relu_cell"},
    {"PReLU", "_prelu_kernel"},
    {"dropout", "native_dropout"},
    {"max_pool1d", "max_pool1d_with_indices"},
    {"max_pool2d", "max_pool2d_with_indices"},
    {"max_pool3d", "max_pool3d_with_indices"},
    {"adaptive_avg_pool1d", "mean"},
    {"adaptive_avg_pool2d", "_adaptive_avg_pool2d mean"},
    {"adaptive_avg_pool3d", "_adaptive_avg_pool3d mean"},
    {"instance_norm1d instance_norm2d instance_norm3d", "instance_norm"},
    {"layer_norm", "native_layer_norm"},
    {"group_norm", "native_group_norm"},
    {"flatten", "view reshape"},
    {"reshape", "view _unsafe_view"},
    {"view", "_unsafe_view"},
    {"matmul", "mm bmm"},
    {"transpose", "permute"},
    {"narrow", "slice"},
    {"pad", "constant_pad_nd"},
    {"contiguous", "clone"},
};

/// Python's operators for tensor methods.
constexpr WordRow kPythonOperators[] = {
    {"operator.add", "add __add__ __radd__ __iadd__", "+"},
    {"operator.mul", "mul __mul__ __rmul__ __imul__", "*"},
    {"operator.sub", "sub", "-"},
    {"operator.truediv", "div true_divide", "/"},
    {"operator.floordiv", "floor_divide __floordiv__"},
    {"operator.matmul", "matmul", "@"},
    {"operator.getitem", "__getitem__"},
    {"operator.pow", "pow"},
    {"operator.neg", "neg"},
};

/// Built-in functions of torch in torch.nn.functional.
constexpr Text kBuiltins
    = "conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d conv_tbc avg_pool1d "
      "avg_pool2d avg_pool3d adaptive_avg_pool1d linear bilinear pixel_shuffle pixel_unshuffle "
      "channel_shuffle native_channel_shuffle gelu softplus logsigmoid hardshrink softshrink prelu "
      "one_hot pairwise_distance pdist cosine_similarity scaled_dot_product_attention";

/// Counted as functions of torch.nn.functional without a record of the call.
constexpr Text kFunctionals
    = "relu relu6 leaky_relu elu hardtanh hardswish hardsigmoid dropout softmax log_softmax silu "
      "mish selu celu max_pool1d max_pool2d max_pool3d adaptive_avg_pool2d adaptive_avg_pool3d "
      "batch_norm layer_norm group_norm instance_norm embedding pad interpolate normalize";

/// Counted as tensor methods without a record of the call.
constexpr Text kMethods = "view reshape permute contiguous repeat detach resize size expand t to "
                          "clone chunk split mean "
                          "select squeeze unsqueeze masked_fill";

/// Modules and functions that rules name although no backend lists them, by the prefix of their
/// names.
constexpr WordRow kKnown[] = {
    {"torch.nn.",
     "AdaptiveLogSoftmaxWithLoss AdaptiveMaxPool1d AdaptiveMaxPool2d AdaptiveMaxPool3d "
     "AlphaDropout BatchNorm1d BatchNorm2d BatchNorm3d Bilinear CELU ChannelShuffle CircularPad1d "
     "CircularPad2d CircularPad3d ConstantPad1d ConstantPad2d ConstantPad3d CosineSimilarity "
     "Dropout Dropout1d Dropout2d Dropout3d ELU Embedding EmbeddingBag FeatureAlphaDropout "
     "Flatten Fold FractionalMaxPool2d FractionalMaxPool3d GELU GLU GRU GRUCell GroupNorm "
     "Hardshrink Hardsigmoid Hardswish Hardtanh Identity InstanceNorm1d InstanceNorm2d "
     "InstanceNorm3d LPPool1d LPPool2d LPPool3d LSTM LSTMCell LayerNorm LazyConv2d LazyLinear "
     "LeakyReLU LocalResponseNorm LogSigmoid LogSoftmax MaxUnpool1d MaxUnpool2d MaxUnpool3d Mish "
     "ModuleDict ModuleList MultiheadAttention PReLU PairwiseDistance ParameterList PixelShuffle "
     "PixelUnshuffle RMSNorm RNN RNNCell RReLU ReLU6 ReflectionPad1d ReflectionPad2d "
     "ReflectionPad3d ReplicationPad1d ReplicationPad2d ReplicationPad3d SELU Sequential SiLU "
     "Softmax2d Softmin Softplus Softshrink Softsign Tanhshrink Threshold Transformer "
     "TransformerDecoder TransformerDecoderLayer TransformerEncoder TransformerEncoderLayer "
     "Unflatten Unfold Upsample UpsamplingBilinear2d UpsamplingNearest2d ZeroPad1d ZeroPad2d "
     "ZeroPad3d"},
    {"torch.nn.functional.",
     "adaptive_max_pool1d adaptive_max_pool2d adaptive_max_pool3d batch_norm celu "
     "cosine_similarity dropout2d dropout3d embedding embedding_bag fold gelu glu grid_sample "
     "hardshrink layer_norm local_response_norm log_softmax logsigmoid lp_pool2d mish "
     "multi_head_attention_forward normalize one_hot pad prelu rms_norm rrelu "
     "scaled_dot_product_attention selu silu softmax sigmoid softmin softplus softshrink softsign "
     "tanh tanhshrink threshold unfold upsample"},
    {"torch.",
     "abs addmm amax amin arange argmax baddbmm bmm broadcast_to chunk clip cos cumsum div dot "
     "einsum eq erf exp expand floor_divide full gather ge gt index_select le log log_softmax lt "
     "masked_fill matmul max maximum mean min minimum mm movedim neg norm ones outer permute pow "
     "prod reciprocal reshape roll round rsqrt select sin softmax split sqrt square std sub sum "
     "swapaxes tensor_split tile topk tril triu unbind unflatten var where zeros"},
    {"operator.",
     "add sub mul truediv floordiv matmul pow neg getitem mod eq ne lt le gt ge and_ or_ iadd "
     "imul"},
    {"",
     "abs add bmm chunk clamp clone contiguous cos cumsum detach div exp expand expand_as flatten "
     "float gather half index_select log log_softmax masked_fill matmul max mean min mul narrow "
     "neg norm permute pow relu repeat repeat_interleave reshape resize round rsqrt select shape "
     "sigmoid sin size softmax split sqrt squeeze std sub sum t tanh tile to topk transpose type "
     "type_as unbind unflatten unfold unsqueeze var view view_as hardsigmoid"},
};

/// Operator kinds of the lowering table that differ from the plain spelling.
constexpr WordRow kKinds[] = {
    {"linear", "addmm"},
    {"matmul", "mm bmm"},
    {"alias", "lift_fresh_copy"},
    {"slice", "slice_copy"},
    {"native_dropout", "native_dropout"},
};

/// Kinds of work: all spellings and kernels in a row do the same work. A star matches any ending.
constexpr WordRow kWorks[] = {
    {"conv", "conv* _convolution*"},    {"linear", "linear* addmm"},
    {"clamp", "clamp* hardtanh relu6"}, {"reshape", "view _unsafe_view flatten unsqueeze"},
    {"transpose", "permute"},
};

/// Channel axis of results, by a substring of the operator's word.
constexpr Text kChannelsSecond
    = "conv batch_norm group_norm instance_norm pixel_shuffle _pool upsample channel_shuffle";
constexpr Text kChannelsLast
    = "linear embedding layer_norm rms_norm matmul attention addmm lstm gru";
constexpr Text kChannelsMoved = "permute transpose movedim moveaxis swapaxes swapdims numpy_T";

/// Compares two names, ignoring case and underscores.
bool soundsLike(Text a, Text b)
{
    const auto next = [](Text& text) {
        text.remove_prefix(std::min(text.find_first_not_of('_'), text.size()));
        const char c = text.empty() ? '\0' : text.front();
        text.remove_prefix(text.empty() ? 0 : 1);
        return std::tolower(static_cast<unsigned char>(c));
    };
    while (!a.empty() || !b.empty())
        if (next(a) != next(b))
            return false;
    return true;
}

/// Returns the first word of the list for which `fits` is true; empty if none.
template<class Fits>
Text findWord(Text words, Fits fits)
{
    while (!words.empty()) {
        const Text word = words.substr(0, words.find(' '));
        if (fits(word))
            return word;
        words.remove_prefix(std::min(word.size() + 1, words.size()));
    }
    return {};
}

bool lists(Text words, Text word)
{
    return !findWord(words, [&](Text one) { return one == word; }).empty();
}

bool standsFor(Text listed, Text word)
{
    return std::isupper(static_cast<unsigned char>(listed[0])) ? listed == word
                                                               : soundsLike(listed, word);
}

} // namespace

bool isMainOp(Text word, Text base)
{
    for (const auto& [words, operators, none] : kImplementations)
        if (lists(operators, base)
            && !findWord(words, [&](Text one) { return standsFor(one, word); }).empty())
            return true;
    if (word == "interpolate" || word == "upsample" || word == "Upsample"
        || word.starts_with("Upsampling"))
        return base.starts_with("upsample") || base.starts_with("_upsample");
    return soundsLike(word, base);
}

std::string wordOfClass(Text name)
{
    static const std::vector<OperatorFactsPtr> operators = ownOperators();
    for (const OperatorFactsPtr& facts : operators)
        if (const Text word = atenWord(facts->target);
            !word.starts_with('_') && soundsLike(word, name))
            return std::string(word);
    for (const auto& [words, implementing, none] : kImplementations)
        if (const Text word = findWord(words, [&](Text one) { return standsFor(one, name); });
            !word.empty())
            return std::string(implementing.find(' ') == Text::npos ? implementing : word);
    std::string out;
    for (const char c : name) {
        if (!out.empty() && std::isupper(static_cast<unsigned char>(c)))
            out += '_';
        out += char(std::tolower(static_cast<unsigned char>(c)));
    }
    return out;
}

OperatorFamily familyOf(Text word)
{
    return factsOf(std::string("aten.").append(word)).family;
}

bool isAnyRankConvolution(Text target)
{
    return lists("_convolution convolution", operatorParts(target).base());
}

bool isBatchNorm(Text target)
{
    return lists("aten.batch_norm.default aten.native_batch_norm.default "
                 "aten._native_batch_norm_legit_no_training.default "
                 "aten._native_batch_norm_legit.default",
                 target);
}

bool isLayerNorm(Text target)
{
    return lists("aten.layer_norm.default", target);
}

std::string kernelKind(Text target)
{
    const Text word = atenWord(target);
    for (const auto& [kind, words, none] : kKinds)
        if (lists(words, word))
            return std::string(kind);
    return plainSpelling(std::string(word));
}

std::string workOf(Text word)
{
    const auto fits = [&](Text one) {
        return one.ends_with('*') ? word.starts_with(one.substr(0, one.size() - 1)) : word == one;
    };
    for (const auto& [work, words, none] : kWorks)
        if (!findWord(words, fits).empty())
            return std::string(work);
    return std::string(word.find("batch_norm") == Text::npos ? word : "batch_norm");
}

OperatorChannels operatorChannels(Text target)
{
    using Weighted = OperatorWeight;
    const Weighted weighted = factsOf(target).weighted;
    if (weighted == Weighted::Convolution || weighted == Weighted::TransposedConvolution)
        return OperatorChannels::Second;
    if (weighted == Weighted::Linear || weighted == Weighted::Embedding)
        return OperatorChannels::Last;
    const OperatorParts parts = operatorParts(target);
    if (parts.space.empty())
        return OperatorChannels::Unknown;
    const auto isPart = [&](Text one) { return parts.word.find(one) != Text::npos; };
    if (!findWord(kChannelsSecond, isPart).empty())
        return OperatorChannels::Second;
    if (!findWord(kChannelsLast, isPart).empty() || lists("mm bmm", parts.word))
        return OperatorChannels::Last;
    return !findWord(kChannelsMoved, isPart).empty() || parts.word == "t"
        ? OperatorChannels::Unknown
        : OperatorChannels::Passed;
}

std::string plainSpelling(const std::string& base)
{
    const std::string& plain = factsOf("aten." + base).plain;
    return plain.empty() ? base : plain;
}

std::string pythonOperator(Text word)
{
    for (const auto& [name, words, sign] : kPythonOperators)
        if (lists(words, word))
            return std::string(name);
    return {};
}

std::string_view pythonSign(Text word)
{
    for (const auto& [name, words, sign] : kPythonOperators)
        if (operatorParts(word).base() == words.substr(0, words.find(' ')))
            return sign;
    return {};
}

bool isFunctionalBuiltin(Text word)
{
    return lists(kBuiltins, word);
}

bool isFunctionalByDefault(Text word)
{
    return lists(kFunctionals, word);
}

bool isMethodByDefault(Text word)
{
    return lists(kMethods, word);
}

std::string publicTypeName(std::string name)
{
    const auto modules = name.find(".modules."), last = name.rfind('.');
    if (name.starts_with("torch.") && modules < last)
        name.erase(modules, last - modules);
    return name;
}

std::set<std::string> knownTypeNames()
{
    std::set<std::string> known;
    for (const auto& [prefix, words, none] : kKnown)
        findWord(words, [&, start = std::string(prefix)](Text word) {
            known.insert(start + std::string(word));
            return false;
        });
    return known;
}

} // namespace qs
