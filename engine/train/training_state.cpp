// SPDX-License-Identifier: Apache-2.0
#include "engine/train/training_state.h"

#include "engine/base/text.h"
#include "engine/execute/tensor_store.h"
#include "engine/graph/module_tree.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace qs {

namespace {

constexpr double kLeastScale = 1e-12;
constexpr std::size_t kStatesOfQuantizer = 5;

at::Tensor copyOf(const at::Tensor& tensor)
{
    return tensor.defined() ? tensor.detach().clone() : tensor;
}

/// Nodes of parameters to train; fails for a frozen name that nothing has.
Result<std::vector<NodeId>> trainedNodes(const TrainingGraph& graph,
                                         const std::vector<std::string>& frozen)
{
    std::vector<NodeId> trained;
    std::vector<bool> isUsed(frozen.size());
    for (const NodeId id : graph.parameters) {
        const std::string& path = graph.graph->get(id).target;
        bool isFrozen = false;
        for (std::size_t i = 0; i < frozen.size(); ++i)
            if (ModuleTree::isWithin(path, frozen[i]))
                isUsed[i] = isFrozen = true;
        if (!isFrozen)
            trained.push_back(id);
    }
    for (std::size_t i = 0; i < frozen.size(); ++i)
        if (!isUsed[i])
            return fail(
                makeError(ErrorCode::Usage, "nothing that trains is named " + inQuotes(frozen[i]))
                    .withHint("name a parameter or a module, as in the state dict"));
    if (trained.empty() && !graph.parameters.empty())
        return fail(ErrorCode::Usage, "--freeze leaves no parameter to train");
    if (trained.empty())
        return fail(makeError(ErrorCode::BadInput, "the model has no parameters to train")
                        .inFile(graph.model->info().path));
    return trained;
}

} // namespace

Result<TrainingState> TrainingState::create(const TrainingGraph& graph, const Options& options,
                                            const at::Device& device)
{
    TrainingState made;
    QS_TRY(made.m_trained, trainedNodes(graph, options.frozen));
    std::map<TensorId, std::size_t> known;
    const auto add = [&](NodeId id) -> Result<void> {
        const TensorId stored = graph.graph->get(id).tensor;
        const auto [at, isNew] = known.try_emplace(stored, made.m_tensors.size());
        made.m_nodes[id] = at->second;
        if (!isNew)
            return {};
        QS_TRY(const at::Tensor value, tensorsOf(*graph.graph)->getTensor(stored));
        made.m_tensors.push_back(value.detach().to(device).clone());
        return {};
    };
    for (const NodeId id : made.m_trained)
        QS_CHECK(add(id));
    made.m_trainedTensors = made.m_tensors.size();
    for (const NodeId id : graph.statistics) {
        QS_CHECK(add(id));
        const std::string& path = graph.graph->get(id).target;
        if (std::any_of(options.frozen.begin(), options.frozen.end(),
                        [&](const std::string& name) { return ModuleTree::isWithin(path, name); }))
            made.m_frozen.insert(id);
    }
    QS_CHECK(made.addQuantizers(graph, options, device));
    return made;
}

Result<void> TrainingState::addQuantizers(const TrainingGraph& graph, const Options& options,
                                          const at::Device& device)
{
    std::map<std::pair<ValueRef, std::string>, std::size_t> ofModules; // by weight and module
    for (const PlannedObserver& planned : graph.plan->observers) {
        const Node* owner = planned.isWeight ? graph.model->tryGet(planned.weightOwner) : nullptr;
        if (owner && !planned.edges.empty() && !owner->scope.path.empty()) {
            const auto [at, isNew] = ofModules.try_emplace(
                {planned.edges.front().value, owner->scope.path}, m_quantizers.size());
            m_quantizerOf[planned.id] = at->second;
            if (!isNew)
                continue;
        }
        auto quantizer
            = FakeQuantizer::create(planned, options.start, options.learnsScales, device);
        if (!quantizer) {
            const Node* node = planned.edges.empty()
                ? owner
                : graph.model->tryGet(planned.edges.front().value.node);
            return fail(std::move(quantizer).error().atNode(node ? node->name : std::string()));
        }
        m_quantizerOf[planned.id] = m_quantizers.size();
        m_quantizers.push_back(*std::move(quantizer));
    }
    return {};
}

std::vector<at::Tensor> TrainingState::learned() const
{
    std::vector<at::Tensor> made(m_tensors.begin(),
                                 m_tensors.begin() + std::ptrdiff_t(m_trainedTensors));
    for (const FakeQuantizer& quantizer : m_quantizers)
        if (quantizer.learnedScale().defined())
            made.push_back(quantizer.learnedScale());
    return made;
}

void TrainingState::holdScales()
{
    for (const FakeQuantizer& quantizer : m_quantizers)
        if (at::Tensor scale = quantizer.learnedScale(); scale.defined())
            scale.detach().clamp_min_(kLeastScale);
}

/// Copies tensors from the index `first` on, then the states of the fake quantizers.
std::vector<at::Tensor> TrainingState::copyFrom(std::size_t first) const
{
    std::vector<at::Tensor> made;
    for (std::size_t i = first; i < m_tensors.size(); ++i)
        made.push_back(copyOf(m_tensors[i]));
    for (const FakeQuantizer& quantizer : m_quantizers)
        for (const at::Tensor& tensor : quantizer.state())
            made.push_back(copyOf(tensor));
    return made;
}

void TrainingState::putFrom(std::size_t first, const std::vector<at::Tensor>& copy)
{
    const at::Device device = m_tensors.front().device();
    auto next = copy.begin();
    for (std::size_t i = first; i < m_tensors.size(); ++i)
        m_tensors[i].copy_(*next++);
    for (FakeQuantizer& quantizer : m_quantizers) {
        std::vector<at::Tensor> state;
        for (std::size_t i = 0; i < kStatesOfQuantizer; ++i)
            state.push_back(copyOf(*next++));
        for (at::Tensor& tensor : state)
            if (tensor.defined())
                tensor = tensor.to(device);
        quantizer.setState(state);
    }
}

} // namespace qs
