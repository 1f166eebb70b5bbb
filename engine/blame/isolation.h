// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/blame/float_twin.h"
#include "engine/execute/interpreter.h"

#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

namespace qs {

/// Measures the effect of single sites: runs the model without quantizers, with one site at a time
/// switched on. One thread at a time.
class Isolation
{
public:
    /// `twin` and the interpreters of its two graphs must outlive this object.
    Isolation(const FloatTwin& twin, const Interpreter& floatRun, const Interpreter& referenceRun);

    /// Runs one batch. Calls `see` with the outputs of the float model, then, for each requested
    /// site, with those with that site on; flat and in order. Nodes before a site's place run once.
    using See = std::function<void(std::optional<std::size_t> site,
                                   const std::vector<at::Tensor>& outputs)>;
    Result<void> run(const std::vector<at::IValue>& inputs, const std::vector<std::size_t>& sites,
                     const See& see, const JobContext& job) const;

private:
    /// Runs the nodes from one position to another, with the noise of `site` if there is one.
    Result<void> advance(Frame& frame, std::size_t from, std::size_t end,
                         std::optional<std::size_t> site, const JobContext& job) const;
    Result<void> addNoise(Frame& frame, const NoisePlace& place) const;

    const FloatTwin& m_twin;
    const Interpreter& m_float;
    const Interpreter& m_reference;
    std::unordered_map<NodeId, std::vector<const NoisePlace*>> m_placesAt; ///< by node of the twin
};

/// A place's value with its site's noise, computed from its float `value` and others of the twin.
Result<at::Tensor> noisyValue(const NoisePlace& place, const at::Tensor& value,
                              const Interpreter& floatRun, const Interpreter& referenceRun,
                              const Frame& values);

} // namespace qs
