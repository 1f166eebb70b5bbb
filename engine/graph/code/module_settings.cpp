// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/code/module_settings.h"

#include "engine/base/text.h"
#include "engine/graph/operators/operators.h"
#include "engine/graph/text/text_literals.h"

#include <algorithm>

namespace qs {

namespace {

/// Returns the value that a node reads as `name`, else null. For operators of packs, their facts
/// name the arguments that are weight and bias.
const Value* operand(const Graph& graph, const Node& node, std::string_view name)
{
    const Argument* argument = node.tryArg(name);
    const OperatorFacts* facts = argument ? nullptr : packOperator(node.target);
    if (facts && (name == "weight" || name == "bias"))
        argument = node.tryArg(std::string_view(name == "weight" ? facts->weight : facts->bias));
    const ValueRef* ref = argument ? argument->asRef() : nullptr;
    return ref ? &graph.value(*ref) : nullptr;
}

std::string dimText(const Graph& graph, const Node& node, std::string_view name, std::size_t axis)
{
    const Value* value = operand(graph, node, name);
    return value && axis < value->type.shape.size() ? value->type.shape[axis].text() : "?";
}

/// Returns "(2, 2)" for [2, 2], and for [2] if the layer has two spatial dimensions.
std::string spatialText(const Argument* argument, std::size_t dims, std::int64_t otherwise)
{
    std::string out = "(";
    const auto* list = argument ? argument->asList() : nullptr;
    for (std::size_t i = 0; i < dims; ++i) {
        std::string item = std::to_string(otherwise);
        if (list && !list->empty())
            item = settingText((*list)[std::min(i, list->size() - 1)]);
        else if (argument && argument->asInt())
            item = settingText(*argument);
        out += (i ? ", " : "") + item;
    }
    return out + (dims == 1 ? ",)" : ")");
}

std::string convolutionText(const Graph& graph, const Node& node, const std::string& name,
                            const std::string& suffix, bool hasBias)
{
    const bool transposed = name.find("Transpose") != std::string::npos;
    const Value* kernel = operand(graph, node, "weight");
    const auto dims = isConvolutionClass(name) ? std::size_t(name[name.size() - 2] - '0')
                                               : kernel->type.shape.size() - 2;
    const Argument* groups = node.tryArg("groups");
    const std::int64_t count = groups && groups->asInt() ? *groups->asInt() : 1;
    const auto channels = [&](std::size_t axis, bool perGroup) {
        const Value* weight = operand(graph, node, "weight");
        if (!weight || axis >= weight->type.shape.size())
            return std::string("?");
        return std::to_string(weight->type.shape[axis].size * (perGroup ? count : 1));
    };
    std::string out = channels(transposed ? 0 : 1, !transposed) + ", "
        + channels(transposed ? 1 : 0, transposed) + ", kernel_size=(";
    for (std::size_t i = 0; i < dims; ++i)
        out += (i ? ", " : "") + dimText(graph, node, "weight", i + 2);
    out += dims == 1 ? ",)" : ")";
    out += ", stride=" + spatialText(node.tryArg("stride"), dims, 1) + suffix;
    const auto unlessDefault = [&](const char* argument, std::int64_t usual) {
        const Argument* given = node.tryArg(argument);
        if (const auto* word = given ? given->asString() : nullptr) {
            out += std::string(", ") + argument + "=" + *word;
            return;
        }
        const std::string text = spatialText(given, dims, usual);
        if (text != spatialText(nullptr, dims, usual))
            out += std::string(", ") + argument + "=" + text;
    };
    unlessDefault("padding", 0);
    unlessDefault("dilation", 1);
    unlessDefault("output_padding", 0);
    if (count != 1)
        out += ", groups=" + std::to_string(count);
    return hasBias ? out : out + ", bias=False";
}

/// "50, 20, num_layers=2": the sizes are those of the first layer's weights.
std::string recurrentText(const Graph& graph, const Node& node)
{
    std::vector<ValueRef> weights;
    const Argument* params = node.tryArg("params");
    for (const char* name : {"w_ih", "w_hh"})
        if (const Argument* weight = node.tryArg(name); weight && weight->asRef())
            weights.push_back(*weight->asRef());
    if (params)
        forEachRef(*params, [&](ValueRef ref) { weights.push_back(ref); });
    const auto width = [&](std::size_t at) {
        const bool isKnown = at < weights.size() && graph.value(weights[at]).type.shape.size() == 2;
        return isKnown ? graph.value(weights[at]).type.shape[1].text() : std::string("?");
    };
    std::string out = width(0) + ", " + width(1);
    const auto unlessDefault = [&](const char* argument, const char* label, const char* usual) {
        const Argument* given = node.tryArg(argument);
        if (given && settingText(*given) != usual)
            out += std::string(", ") + label + "=" + settingText(*given);
    };
    unlessDefault("num_layers", "num_layers", "1");
    unlessDefault("has_biases", "bias", "True");
    unlessDefault("batch_first", "batch_first", "False");
    unlessDefault("bidirectional", "bidirectional", "False");
    return out;
}

/// Prints one number if all dimensions are equal, the usual form for pooling.
std::string poolText(const Node& node, bool isMax)
{
    const auto setting = [&node](const char* key, const std::string& usual) {
        const Argument* given = node.tryArg(key);
        if (!given || given->isNone())
            return usual;
        const auto* list = given->asList();
        if (!list)
            return settingText(*given);
        if (list->empty())
            return usual;
        const bool isOne = std::all_of(list->begin(), list->end(),
                                       [&](const Argument& item) { return item == list->front(); });
        return settingText(isOne ? list->front() : *given);
    };
    const std::string kernel = setting("kernel_size", "?");
    std::string out = "kernel_size=" + kernel + ", stride=" + setting("stride", kernel)
        + ", padding=" + setting("padding", "0");
    if (isMax)
        out += ", dilation=" + setting("dilation", "1")
            + ", ceil_mode=" + setting("ceil_mode", "False");
    return out;
}

} // namespace

bool isConvolutionClass(const std::string& name)
{
    const std::size_t end = name.size();
    return end > 5 && name.back() == 'd' && name[end - 2] >= '1' && name[end - 2] <= '3'
        && name.find("Conv") != std::string::npos;
}

bool isRecurrentClass(const std::string& name)
{
    return name == "LSTM" || name == "GRU" || name == "LSTMCell" || name == "GRUCell"
        || name == "RNNCell";
}

std::string moduleSettings(const Graph& graph, const Node& node, const std::string& suffix,
                           bool folded)
{
    const std::string name = lastPart(node.scope.moduleClass);
    const Value* weight = operand(graph, node, "weight");
    const std::size_t rank = weight ? weight->type.shape.size() : 0;
    // A pack's "SparseConv" is a convolution even if its name has no dimensions.
    if (isConvolutionClass(name) || (name.find("Conv") != std::string::npos && rank > 2))
        return convolutionText(graph, node, name, suffix, folded || operand(graph, node, "bias"));
    if (name == "Linear" || (name.ends_with("Linear") && rank == 2)) {
        // In core ATen the weight is mat2 with shape [in, out].
        const bool swapped = !weight;
        const std::string matrix = swapped ? "mat2" : "weight";
        return "in_features=" + dimText(graph, node, matrix, swapped ? 0 : 1)
            + ", out_features=" + dimText(graph, node, matrix, swapped ? 1 : 0)
            + (suffix.empty() ? std::string(", bias=")
                       + (folded || operand(graph, node, swapped ? "self" : "bias") ? "True"
                                                                                    : "False")
                              : suffix);
    }
    if (name.starts_with("BatchNorm")) {
        const auto setting = [&node](const char* key, double usual) {
            const Argument* given = node.tryArg(key);
            return std::string(", ") + key + "="
                + (given && given->asDouble() ? settingText(*given) : doubleText(usual));
        };
        return dimText(graph, node, "running_mean", 0) + setting("eps", 1e-5)
            + setting("momentum", 0.1)
            + ", affine=" + (operand(graph, node, "weight") ? "True" : "False")
            + ", track_running_stats=True" + suffix;
    }
    if (isRecurrentClass(name))
        return recurrentText(graph, node);
    if (name.starts_with("MaxPool") || name.starts_with("AvgPool"))
        return poolText(node, name.starts_with("MaxPool"));
    std::string out;
    if (name == "Embedding")
        out = dimText(graph, node, "weight", 0) + ", " + dimText(graph, node, "weight", 1);
    for (const auto& argument : node.args) {
        bool reads = argument.value.isNone() || argument.name == "training"
            || argument.name == "cudnn_enabled" || argument.name == "cudnn_enable";
        forEachRef(argument.value, [&](ValueRef) { reads = true; });
        if (!reads)
            out += (out.empty() ? "" : ", ") + argument.name + "=" + settingText(argument.value);
    }
    return out.empty() && !suffix.empty() ? suffix.substr(2) : out + suffix;
}

std::string settingText(const Argument& argument)
{
    if (const auto* list = argument.asList()) {
        std::string out = "(";
        for (std::size_t i = 0; i < list->size(); ++i)
            out += (i ? ", " : "") + settingText((*list)[i]);
        return out + (list->size() == 1 ? ",)" : ")");
    }
    if (const auto* value = argument.asBool())
        return *value ? "True" : "False";
    if (const auto* value = argument.asInt())
        return std::to_string(*value);
    if (const auto* value = argument.asDouble())
        return doubleText(*value);
    if (const auto* value = argument.asString())
        return quotedLiteral(*value);
    if (const auto* value = argument.asDType())
        return "torch." + std::string(dtypeName(*value));
    return argument.isNone() ? "None" : "...";
}

} // namespace qs
