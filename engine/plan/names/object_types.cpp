// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/names/object_types.h"

#include "engine/configure/nearest_name.h"
#include "engine/graph/operators/operators.h"

#include <array>
#include <sstream>

namespace qs {

namespace {

// Modules and functions that people write rules for and no backend lists.
constexpr const char* kModules
    = "AdaptiveLogSoftmaxWithLoss AdaptiveMaxPool1d AdaptiveMaxPool2d AdaptiveMaxPool3d "
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
      "ZeroPad3d";
constexpr const char* kFunctionals
    = "adaptive_max_pool1d adaptive_max_pool2d adaptive_max_pool3d batch_norm celu "
      "cosine_similarity "
      "dropout2d dropout3d embedding embedding_bag fold gelu glu grid_sample hardshrink layer_norm "
      "local_response_norm log_softmax logsigmoid lp_pool2d mish multi_head_attention_forward "
      "normalize one_hot pad prelu rms_norm rrelu scaled_dot_product_attention selu silu softmax "
      "sigmoid softmin softplus softshrink softsign tanh tanhshrink threshold unfold upsample";
constexpr const char* kTorch = "abs addmm amax amin arange argmax baddbmm bmm broadcast_to chunk "
                               "clip cos cumsum div dot einsum "
                               "eq erf exp expand floor_divide full gather ge gt index_select le "
                               "log log_softmax lt masked_fill "
                               "matmul max maximum mean min minimum mm movedim neg norm ones outer "
                               "permute pow prod reciprocal "
                               "reshape roll round rsqrt select sin softmax split sqrt square std "
                               "sub sum swapaxes tensor_split "
                               "tile topk tril triu unbind unflatten var where zeros";
constexpr const char* kOperators = "add sub mul truediv floordiv matmul pow neg getitem mod eq ne "
                                   "lt le gt ge and_ or_ iadd imul";
constexpr const char* kMethods
    = "abs add bmm chunk clamp clone contiguous cos cumsum detach div exp expand expand_as flatten "
      "float gather half index_select log log_softmax masked_fill matmul max mean min mul narrow "
      "neg "
      "norm permute pow relu repeat repeat_interleave reshape resize round rsqrt select shape "
      "sigmoid "
      "sin size softmax split sqrt squeeze std sub sum t tanh tile to topk transpose type type_as "
      "unbind unflatten unfold unsqueeze var view view_as hardsigmoid";

void addWords(std::set<std::string>& known, const std::string& prefix, const char* words)
{
    std::istringstream in(words);
    for (std::string word; in >> word;)
        known.insert(prefix + word);
}

std::set<std::string> knownTypes(const Graph& graph, const std::vector<OpName>& names,
                                 const Backend& backend)
{
    std::set<std::string> known;
    addWords(known, "torch.nn.", kModules);
    addWords(known, "torch.nn.functional.", kFunctionals);
    addWords(known, "torch.", kTorch);
    addWords(known, "operator.", kOperators);
    addWords(known, "", kMethods);
    for (const char* shipped : {"x86", "fbgemm"})
        if (const auto defaults = QConfigMapping::defaultFor(shipped))
            for (const Rule& rule : defaults->rules)
                known.insert(canonicalTypeName(rule.key));
    const auto addBackend = [&known](const Backend& source) {
        known.merge(patternNames(source));
        for (const auto& entry : source.patterns)
            for (const std::string& name : {entry.rootModule, entry.fusedModule, entry.qatModule})
                known.insert(name);
    };
    addBackend(backend);
    if (const auto native = findBackend("native"))
        addBackend(*native);
    for (const std::string& target : packOperators())
        known.insert("torch.ops." + target);
    for (const auto& name : names) {
        known.insert(name.name);
        known.insert(name.others.begin(), name.others.end());
    }
    for (const ModuleEntry* module : graph.modules().inOrder())
        known.insert(canonicalTypeName(module->moduleClass));
    known.erase("");
    return known;
}

} // namespace

std::set<std::string> patternNames(const Backend& backend)
{
    std::set<std::string> names;
    for (const BackendPattern& entry : backend.patterns)
        for (const std::string& name : entry.pattern)
            names.insert(canonicalTypeName(name));
    return names;
}

Result<void> checkPackOperators(const Backend& backend)
{
    constexpr std::string_view kPython = "torch.ops.";
    for (const std::string& name : patternNames(backend)) {
        if (!name.starts_with(kPython) || packOperator(name.substr(kPython.size())))
            continue;
        const std::string near = nearestName(name.substr(kPython.size()), packOperators());
        return fail(makeError(ErrorCode::BadInput,
                              "backend '" + backend.name + "' names '" + name
                                  + "', which no loaded extension pack has")
                        .withHint(near.empty()
                                      ? "give the pack's folder: --extension DIR"
                                      : "did you mean '" + std::string(kPython) + near + "'?"));
    }
    return {};
}

Result<void> checkObjectTypes(const QConfigMapping& mapping, const Graph& graph,
                              const std::vector<OpName>& names, const Backend& backend)
{
    std::set<std::string> known;
    for (const Rule& rule : mapping.rules) {
        const bool byType = rule.kind == RuleKind::ObjectType;
        if ((!byType && rule.kind != RuleKind::ModuleNameObjectTypeOrder) || rule.fromBackend)
            continue;
        if (known.empty())
            known = knownTypes(graph, names, backend);
        const std::string& type = byType ? rule.key : rule.secondKey;
        if (known.count(canonicalTypeName(type)))
            continue;
        const std::vector<std::string> list(known.begin(), known.end());
        const std::string near = nearestName(canonicalTypeName(type), list);
        return fail(makeError(ErrorCode::BadInput,
                              "mapping." + std::string(ruleKindName(rule.kind))
                                  + ": unknown object type '" + type + "'")
                        .withHint(near.empty() ? "write types as in Python: torch.nn.Conv2d, "
                                                 "torch.nn.functional.relu, operator.add, reshape"
                                               : "did you mean '" + near + "'?"));
    }
    return {};
}

} // namespace qs
