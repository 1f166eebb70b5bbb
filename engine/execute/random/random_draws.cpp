// SPDX-License-Identifier: Apache-2.0
#include "engine/execute/random/random_draws.h"

#include "engine/base/key.h"
#include "engine/base/text.h"
#include "engine/execute/op_table.h"
#include "engine/execute/value_conversion.h"
#include "engine/graph/argument_number.h"
#include "engine/graph/operators/effects.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/Generator.h>

#include <algorithm>
#include <array>

namespace qs {

namespace {

/// Whether the argument, or its default, is false or 0.
bool isOff(const Node& node, std::string_view name)
{
    Argument value;
    if (!effectiveArgument(node, name, value))
        return false;
    const bool* flag = value.asBool();
    return (flag && !*flag) || numberOf(&value) == 0;
}

bool isDrawing(const Node& node)
{
    const auto op = node.kind == NodeKind::Op ? findOperator(node.target) : std::nullopt;
    return op && drawsNumbers(node, *op);
}

void addDrawing(const Graph& graph, bool training, const std::string& around,
                std::vector<std::string>& names)
{
    for (const NodePtr& node : graph.nodes()) {
        if (isDrawing(*node) && (training || !isInTraining(*node)))
            names.push_back(around + node->name);
        for (const GraphPtr& body : node->subgraphs)
            addDrawing(*body, training, around + node->name + "/", names);
    }
}

std::string drawingLine(const std::vector<std::string>& names)
{
    if (names.empty())
        return {};
    return quotedNames(names) + (names.size() == 1 ? " draws" : " draw") + " random numbers";
}

std::mutex& drawing()
{
    static std::mutex mutex;
    return mutex;
}

} // namespace

bool drawsNumbers(const Node& node, const c10::OperatorHandle& op)
{
    // The dropout of a recurrent layer is mostly 0. p is the probability of a dropout with `train`.
    constexpr std::array<std::string_view, 5> kSwitches {"train", "training", "dropout_p",
                                                         "dropout", "p"};
    if (!isRandom(op))
        return false;
    const bool hasModes = op.schema().argumentIndexWithName("train").has_value()
        || op.schema().argumentIndexWithName("training").has_value();
    return std::none_of(kSwitches.begin(), kSwitches.end(), [&](std::string_view name) {
        return (hasModes || name == "dropout_p") && isOff(node, name);
    });
}

bool drawsNumbers(const Node& node)
{
    return isDrawing(node)
        || std::any_of(node.subgraphs.begin(), node.subgraphs.end(), [](const GraphPtr& body) {
               return std::any_of(body->nodes().begin(), body->nodes().end(),
                                  [](const NodePtr& inner) { return drawsNumbers(*inner); });
           });
}

std::vector<std::string> drawingNodes(const Graph& graph)
{
    std::vector<std::string> names;
    addDrawing(graph, true, {}, names);
    return names;
}

bool drawAlike(const Graph& one, const Graph& other)
{
    const auto names = drawingNodes(one);
    return names == drawingNodes(other)
        && std::none_of(names.begin(), names.end(), [](const std::string& name) {
               return name.find('/') != std::string::npos;
           });
}

std::string drawingText(const Graph& graph)
{
    return drawingLine(drawingNodes(graph));
}

std::string drawingText(const Graph& graph, const Graph& file)
{
    const std::string here = drawingText(graph);
    return here.empty() ? drawingText(file) + ", in the file alone" : here + ", others in the file";
}

std::string drawingWarning(const Graph& graph)
{
    std::vector<std::string> names;
    addDrawing(graph, false, {}, names);
    if (names.empty())
        return {};
    return drawingLine(names)
        + ": the same ones here in every form and run, others in an exported file; " + kDrawNothing;
}

SeededDraws::SeededDraws(std::string_view place, std::string_view node)
    : m_alone(drawing())
{
    const Key key = KeyBuilder("draws").add(place).add(node).key();
    at::Generator generator = at::detail::getDefaultCPUGenerator();
    const std::lock_guard lock(generator.mutex());
    m_before = generator.get_state();
    generator.set_current_seed(std::stoull(key.substr(0, 16), nullptr, 16));
}

SeededDraws::~SeededDraws()
{
    at::Generator generator = at::detail::getDefaultCPUGenerator();
    const std::lock_guard lock(generator.mutex());
    generator.set_state(m_before);
}

std::string bodyPlace(std::string_view place, const Node& node, std::int64_t round)
{
    return std::string(place) + "/" + node.name + "#" + std::to_string(round);
}

} // namespace qs
