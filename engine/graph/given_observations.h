// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph.h"

#include <memory>
#include <string>
#include <vector>

namespace qs {

/// The range of one value, read from a fake quantizer of the file (quantization-aware training).
/// `min` and `max` have one entry, or one per channel. A value type.
struct GivenObservation
{
    ValueRef value; ///< value of the float graph at the place of the fake quantizer
    std::vector<NodeId> readers; ///< consumers of the fake quantizer's result
    /// Of a value inside a module (`PlannedObserver::interior`); `value` is the module's first
    /// result then, and `readers` holds the module alone. Else empty.
    std::string interior;
    bool isWeight = false; ///< the value depends on stored tensors only
    bool isSecond = false; ///< another fake quantizer precedes it: applies to `readers` only
    /// For a layer's weight: the observer starts from `min` and `max` and observes the weight once
    /// more, as torch.ao does when it converts the layer.
    bool seesWeight = false;
    double averaging = 0; ///< averaging constant of a moving average; 0 = running min and max
    std::vector<float> min, max;
    std::int64_t quantMin = 0, quantMax = 255;
    bool isSymmetric = false;
    bool isPerChannel = false;
    int axis = 0;
    double eps = 1.1920928955078125e-07;
};
using GivenObservations = std::vector<GivenObservation>;

/// Mixin for the tensor store of a graph whose file may hold fake quantizers. Their observations
/// are data of the file, like weights. Set by the importer before the graph is shared.
struct HoldsGivenObservations
{
    virtual ~HoldsGivenObservations() = default;
    std::shared_ptr<const GivenObservations> given;
};

/// A tensor store that also holds the observations of the file's fake quantizers.
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
