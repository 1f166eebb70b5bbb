// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/blame/float_twin.h"
#include "engine/execute/interpreter.h"

#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

namespace qs {

/// Measures the effect of single sites: runs the model without quantizers except for one site at a
/// time. One thread at a time.
class Isolation
{
public:
    /// `twin` and the interpreters of its two graphs must outlive this object.
    Isolation(const FloatTwin& twin, const Interpreter& floatRun, const Interpreter& referenceRun);

    /// Runs one batch. Calls `see` with the outputs of the float model, then, for each requested
    /// site, with the outputs with only that site quantized; flat and in order. Nodes before a
    /// site's place run once.
    using See = std::function<void(std::optional<std::size_t> site,
                                   const std::vector<at::Tensor>& outputs)>;
    Result<void> run(const std::vector<at::IValue>& inputs, const std::vector<std::size_t>& sites,
                     const See& see, const JobContext& job) const;

private:
    /// Runs the nodes from position `from` to `end`, with the noise of `site` if set.
    Result<void> advance(Frame& frame, std::size_t from, std::size_t end,
                         std::optional<std::size_t> site, const JobContext& job) const;
    Result<void> addNoise(Frame& frame, const NoisePlace& place) const;

    const FloatTwin& m_twin;
    const Interpreter& m_float;
    const Interpreter& m_reference;
    /// Places by node of the twin.
    std::unordered_map<NodeId, std::vector<const NoisePlace*>> m_placesAt;
};

/// Returns a place's value with its site's noise, computed from its float `value` and other values
/// of the twin.
Result<at::Tensor> noisyValue(const NoisePlace& place, const at::Tensor& value,
                              const Interpreter& floatRun, const Interpreter& referenceRun,
                              const Frame& values);

} // namespace qs
