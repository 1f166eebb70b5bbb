// SPDX-License-Identifier: Apache-2.0
#include "engine/compare/metrics/class_scores.h"

#include "engine/graph/operators/operators.h"
#include "engine/graph/output_names.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>
#include <string_view>

namespace qs {

namespace {

constexpr int kMostSteps = 32; ///< most nodes from an output back to its layer

/// Whether one of a name's words, separated by dots and underscores, is in the list.
bool holdsWord(const std::string& name, const std::string_view words)
{
    std::string word;
    for (std::size_t i = 0; i <= name.size(); ++i) {
        const char c
            = i < name.size() ? char(std::tolower(static_cast<unsigned char>(name[i]))) : '.';
        if (c != '.' && c != '_') {
            word += c;
            continue;
        }
        if (!word.empty() && words.find(" " + word + " ") != std::string_view::npos)
            return true;
        word.clear();
    }
    return false;
}

bool isCalledSo(const std::string& name)
{
    return holdsWord(
        name,
        " logit logits score scores prob probs probability probabilities class classes "
        "cls classifier classification label labels ");
}

bool isLayer(const Node& node)
{
    const OperatorFamily family = factsOf(node.target).family;
    static constexpr std::array kLayers {
        OperatorFamily::Convolution, OperatorFamily::TransposedConvolution, OperatorFamily::Product,
        OperatorFamily::Attention, OperatorFamily::Recurrent};
    return std::find(kLayers.begin(), kLayers.end(), family) != kLayers.end();
}

/// The producer of the first value that the node reads; null if that is not an operator.
const Node* source(const Graph& graph, const Node& node)
{
    for (const NamedArgument& argument : node.args)
        if (const ValueRef* ref = argument.value.asRef()) {
            const Node* made = graph.tryGet(ref->node);
            return made && made->kind == NodeKind::Op ? made : nullptr;
        }
    return nullptr;
}

} // namespace

ClassScores classScores(const Graph& graph, ValueRef value)
{
    if (isCalledSo(graph.value(value).name))
        return ClassScores::Sure;
    const Node* node = graph.tryGet(value.node);
    for (int step = 0; node && node->isOperator() && step < kMostSteps; ++step) {
        if (node->target.find("softmax") != std::string::npos || isCalledSo(node->scope.path))
            return ClassScores::Sure;
        if (isLayer(*node))
            return holdsWord(node->scope.path, " fc head heads ") ? ClassScores::Likely
                                                                  : ClassScores::Unlikely;
        node = source(graph, *node);
    }
    return ClassScores::Unlikely;
}

namespace {

void addAll(const Graph& graph, const Argument& argument, std::vector<ClassScores>& out)
{
    if (const auto* list = argument.asList()) {
        for (const Argument& item : *list)
            addAll(graph, item, out);
        return;
    }
    const ValueRef* ref = argument.asRef();
    out.push_back(ref ? classScores(graph, *ref) : ClassScores::Unlikely);
}

} // namespace

std::vector<ClassScores> classScores(const Graph& graph)
{
    std::vector<ClassScores> out;
    for (const NamedArgument& argument : graph.output().args)
        addAll(graph, argument.value, out);
    const auto names = outputNames(graph);
    for (std::size_t i = 0; i < out.size() && i < names.size(); ++i)
        if (isCalledSo(names[i]))
            out[i] = ClassScores::Sure;
    return out;
}

} // namespace qs
