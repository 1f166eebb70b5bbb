// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph.h"

#include <memory>
#include <string>
#include <vector>

namespace qs {

/// The range of one value that quantization-aware training left in a fake quantizer of the file.
/// One entry of `min` and `max`, or one for each channel. A value type.
struct GivenObservation
{
    ValueRef value; ///< of the float graph, where the fake quantizer stood
    std::vector<NodeId> readers; ///< that read the fake quantizer's result
    bool isWeight = false; ///< follows from stored tensors alone
    bool isSecond = false; ///< another fake quantizer stands before it: holds for `readers` alone
    /// Of a layer's weight: the observer goes on from `min` and `max` and sees the weight once
    /// more, as it does when torch.ao converts the layer.
    bool seesWeight = false;
    double averaging = 0; ///< of a moving average, its constant; 0 = extremes are kept
    std::vector<float> min, max;
    std::int64_t quantMin = 0, quantMax = 255;
    bool isSymmetric = false;
    bool isPerChannel = false;
    int axis = 0;
    double eps = 1.1920928955078125e-07;
};
using GivenObservations = std::vector<GivenObservation>;

/// Mixed into the tensors of a graph whose file may hold fake quantizers: their observations are
/// stored data of the file, like weights. Set by the importer before the graph is shared.
struct HoldsGivenObservations
{
    virtual ~HoldsGivenObservations() = default;
    std::shared_ptr<const GivenObservations> given;
};

/// A store of tensors that also holds what the file's fake quantizers observed.
template<class Store>
class WithGivenObservations : public Store, public HoldsGivenObservations
{
};

/// Observations of the fake quantizers of the graph's file, in graph order; empty without any.
/// Edits and later stages share it. Any thread.
inline const GivenObservations& givenObservations(const Graph& graph)
{
    static const GivenObservations none;
    const auto* held = dynamic_cast<const HoldsGivenObservations*>(graph.tensors().get());
    return held && held->given ? *held->given : none;
}

} // namespace qs
