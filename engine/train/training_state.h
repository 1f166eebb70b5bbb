// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/calibrate/observations.h"
#include "engine/train/fake_quantizer.h"
#include "engine/train/training_graph.h"

#include <ATen/core/Tensor.h>

#include <map>
#include <set>
#include <string>
#include <vector>

namespace qs {

/// What a training changes: parameters, running statistics and the ranges of fake quantizers. A
/// tensor that several nodes store is one tensor here. One thread at a time.
class TrainingState
{
public:
    struct Options
    {
        StartRanges start {};
        bool learnsScales = false;
        /// Names of parameters and modules that are not trained, as in the state dict.
        std::vector<std::string> frozen;
    };

    /// Copies the model's tensors to the device. Errors: a name in `frozen` that nothing has
    /// (Usage), nothing is left to train, `FakeQuantizer::create`'s.
    static Result<TrainingState> create(const TrainingGraph& graph, const Options& options,
                                        const at::Device& device);

    /// Nodes of `TrainingGraph::parameters` that are trained.
    const std::vector<NodeId>& trained() const { return m_trained; }
    /// All nodes whose tensors are here, frozen parameters excluded.
    const std::map<NodeId, std::size_t>& nodes() const { return m_nodes; }
    const at::Tensor& tensor(NodeId node) const { return m_tensors.at(m_nodes.at(node)); }
    /// Calls of one module share the fake quantizer of its weight, as in torch.ao.
    FakeQuantizer& quantizer(ObserverId id) { return m_quantizers[m_quantizerOf.at(id)]; }
    const FakeQuantizer& quantizer(ObserverId id) const
    {
        return m_quantizers[m_quantizerOf.at(id)];
    }

    /// The tensors that gradients are computed for: those of `trained()`, each once, then learned
    /// scales.
    std::vector<at::Tensor> learned() const;
    /// Number of tensors before the scales in `learned()`.
    std::size_t trainedTensors() const { return m_trainedTensors; }
    /// Index into `learned()` of a trained node's tensor.
    std::size_t indexOf(NodeId node) const { return m_nodes.at(node); }
    /// Whether the batch norm with these statistics belongs to a frozen module.
    bool isFrozen(NodeId statistics) const { return m_frozen.contains(statistics); }
    /// Keeps learned scales above zero. Call after each update.
    void holdScales();

    /// A copy of all that changes, and the way back.
    std::vector<at::Tensor> snapshot() const { return copyFrom(0); }
    void restore(const std::vector<at::Tensor>& snapshot) { putFrom(0, snapshot); }
    /// The same for what a forward pass changes: running statistics and ranges.
    std::vector<at::Tensor> observed() const { return copyFrom(m_trainedTensors); }
    void restoreObserved(const std::vector<at::Tensor>& observed)
    {
        putFrom(m_trainedTensors, observed);
    }

private:
    TrainingState() = default;
    std::vector<at::Tensor> copyFrom(std::size_t first) const;
    void putFrom(std::size_t first, const std::vector<at::Tensor>& copy);
    Result<void> addQuantizers(const TrainingGraph& graph, const Options& options,
                               const at::Device& device);

    std::vector<NodeId> m_trained;
    std::set<NodeId> m_frozen; ///< statistics within frozen modules
    std::map<NodeId, std::size_t> m_nodes; ///< index into `m_tensors`
    std::vector<at::Tensor> m_tensors; ///< trained ones first
    std::size_t m_trainedTensors = 0;
    std::map<ObserverId, std::size_t> m_quantizerOf; ///< index into `m_quantizers`
    std::vector<FakeQuantizer> m_quantizers;
};

} // namespace qs
