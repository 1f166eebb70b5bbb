// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/compare/comparison.h"
#include "engine/compare/metrics/metrics.h"
#include "engine/convert/converted_model.h"
#include "engine/execute/interpreter.h"

#include <map>

namespace qs {

/// Sums, for each value inside modules that are quantized as a whole, the error of the reference
/// form against the float model. One thread at a time.
class InteriorErrors
{
public:
    InteriorErrors(const ConvertedModel& converted, at::Device device);

    bool has(NodeId module) const { return m_bodies.count(module) > 0; }
    /// Adds one batch: the inputs of the node's body in the float and in the reference graph.
    Result<void> add(NodeId module, std::vector<at::IValue> floatInputs,
                     std::vector<at::IValue> referenceInputs, const JobContext& job);
    /// The sums of one module as bytes, and from them. Errors (Internal): damaged bytes.
    std::string packed(NodeId module) const;
    Result<void> restore(NodeId module, const std::string& bytes);
    /// In graph order, then in the order in which a cell computes them.
    std::vector<InteriorError> result() const;

private:
    struct Bodies
    {
        GraphPtr inFloat, inReference; ///< both with an observer on each value
        std::map<ObserverId, ErrorSums> sums;
    };
    const PlanPtr m_plan;
    at::Device m_device;
    std::unordered_map<NodeId, Bodies> m_bodies;
};

} // namespace qs
