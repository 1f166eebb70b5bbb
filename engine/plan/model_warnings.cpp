// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/model_warnings.h"

#include "engine/base/text.h"
#include "engine/graph/given_observations.h"
#include "engine/graph/operators/effects.h"
#include "engine/graph/operators/quantized_target.h"
#include "engine/plan/names/op_vocabulary.h"

#include <algorithm>
#include <array>
#include <map>

namespace qs {

namespace {

bool contains(std::string_view text, std::string_view part)
{
    return text.find(part) != std::string_view::npos;
}

/// The behaviour of training mode that an operator still has; empty if none.
std::string trainingEffect(const Node& node)
{
    const std::string& target = node.target;
    const bool trains = isInTraining(node);
    if (contains(target, "batch_norm") || contains(target, "instance_norm")) {
        // Without running statistics, a norm uses those of the batch in evaluation mode too.
        const Argument* mean = node.tryArg("running_mean");
        const bool always = contains(target, "_batch_norm_with_update");
        return (trains || always) && mean && !mean->isNone()
            ? "normalizes with the statistics of the batch"
            : "";
    }
    if (!trains)
        return {};
    if (contains(target, "dropout"))
        return "drops values at random";
    if (factsOf(target).family == OperatorFamily::Recurrent)
        return "drops values between its layers";
    return "runs as in training";
}

class TrainingSearch
{
public:
    void inspect(const Graph& graph, const std::string& around)
    {
        for (const NodePtr& node : graph.nodes()) {
            const std::string name = !node->scope.path.empty() ? node->scope.path
                : around.empty()                               ? node->name
                                                               : around;
            if (node->kind == NodeKind::Op)
                if (const std::string effect = trainingEffect(*node); !effect.empty()) {
                    auto& names = m_names[effect];
                    if (std::find(names.begin(), names.end(), name) == names.end())
                        names.push_back(name);
                }
            for (const auto& body : node->subgraphs)
                inspect(*body, name);
        }
    }

    std::string text() const
    {
        std::string text;
        for (const auto& [effect, names] : m_names)
            text += (text.empty() ? "" : "; ") + quotedNames(names) + " " + effect;
        return text.empty() ? text : "the model is in training mode: " + text;
    }

private:
    std::map<std::string, std::vector<std::string>> m_names; ///< modules by effect
};

bool isEagerClass(const std::string& moduleClass)
{
    static constexpr std::array<std::string_view, 5> kNames {
        "QuantStub", "DeQuantStub", "QuantWrapper", "FloatFunctional", "FXFloatFunctional"};
    const bool own = moduleClass.starts_with("torch.ao.")
        || moduleClass.starts_with("torch.quantization.")
        || moduleClass.starts_with("torch.nn.quantized.");
    const auto last = moduleClass.rfind('.') + 1;
    const std::string_view name = std::string_view(moduleClass).substr(last);
    return own && std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

/// Whether a class is an observer or fake quantizer that eager mode's prepare inserts.
bool isObserverClass(const std::string& moduleClass)
{
    return moduleClass.starts_with("torch.ao.quantization.observer.")
        || moduleClass.starts_with("torch.ao.quantization.fake_quantize.")
        || moduleClass.starts_with("torch.quantization.observer.");
}

void warnOfEagerModules(const Graph& graph, std::vector<std::string>& warnings)
{
    std::vector<std::string> stubs, observers;
    for (const ModuleEntry* module : graph.modules().inOrder()) {
        const std::string path = module->path.empty() ? "the model itself" : module->path;
        if (isEagerClass(module->moduleClass))
            stubs.push_back(path);
        else if (isObserverClass(module->moduleClass))
            observers.push_back(path);
    }
    if (!stubs.empty())
        warnings.push_back("the model was prepared for eager-mode quantization: "
                           + quotedNames(stubs)
                           + " (QuantStub, DeQuantStub, QuantWrapper, FloatFunctional) do nothing "
                             "here; export the model without them");
    if (!observers.empty() && givenObservations(graph).empty())
        warnings.push_back("the model holds observers of eager-mode quantization: "
                           + quotedNames(observers)
                           + "; export the float model, before torch.ao.quantization.prepare");
}

/// Warns of layers whose modules the file does not record; recognizes them by their parameters.
void warnOfRegions(const Graph& graph, std::vector<std::string>& warnings)
{
    std::vector<std::string> layers;
    for (const NodePtr& node : graph.nodes()) {
        if (!node->isOperator() || !isOfRegion(*node))
            continue;
        for (const NamedArgument& argument : node->args)
            forEachRef(argument.value, [&](ValueRef ref) {
                const Node& weight = graph.get(ref.node);
                if (weight.kind != NodeKind::Parameter)
                    return;
                const std::string layer = ModuleTree::parentPath(weight.target);
                if (layer != node->scope.path
                    && std::find(layers.begin(), layers.end(), layer) == layers.end())
                    layers.push_back(layer);
            });
    }
    if (!layers.empty())
        warnings.push_back("the file does not name the modules of operators in a region such as "
                           "'with torch.no_grad()': "
                           + quotedNames(layers)
                           + " are planned as functions, and rules for them match nothing; export "
                             "the model without run_decompositions(), or without the region");
}

std::size_t quantizedOperators(const Graph& graph)
{
    std::size_t count = 0;
    for (const NodePtr& node : graph.nodes()) {
        const std::string& target = node->target;
        count += node->kind == NodeKind::Op
            && (isQuantizedTarget(target) || isTensorQuantize(target)
                || isTensorDequantize(target));
        for (const auto& body : node->subgraphs)
            count += quantizedOperators(*body);
    }
    return count;
}

} // namespace

std::string alreadyQuantized(const Graph& graph)
{
    // Quantize steps that an edit added to a float file are intended.
    const bool isByHand = !graph.info().edits.empty() && !graph.info().converted;
    const std::size_t count = isByHand ? 0 : quantizedOperators(graph);
    return count == 0 ? std::string()
                      : "the model is already quantized: "
            + counted(count, "quantizing, dequantizing or integer operator");
}

std::string inTrainingMode(const Graph& graph)
{
    TrainingSearch search;
    search.inspect(graph, {});
    return search.text();
}

void warnOfModel(const Graph& graph, std::vector<std::string>& warnings)
{
    if (const std::string trains = inTrainingMode(graph); !trains.empty())
        warnings.push_back(trains + "; " + kEvaluateFirst);
    warnOfEagerModules(graph, warnings);
    warnOfRegions(graph, warnings);
    if (const std::string already = alreadyQuantized(graph); !already.empty())
        warnings.push_back(already + "; plan the float model it was made from");
}

} // namespace qs
