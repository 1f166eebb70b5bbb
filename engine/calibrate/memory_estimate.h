// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/graph/graph.h"

#include <ATen/core/ivalue.h>

#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

namespace qs {

/// Bytes of a graph's stored tensors, each counted once. Borrows the graph.
class StoredBytes
{
public:
    explicit StoredBytes(const Graph& graph)
        : m_graph(graph)
    {
    }

    /// Bytes of the node's stored tensor; 0 without one, and if it was counted before.
    double count(const Node& node)
    {
        const bool isNew
            = node.isStored() && m_graph.tensors() && m_seen.insert(node.tensor).second;
        return isNew ? double(m_graph.tensors()->bytes(node.tensor)) : 0;
    }

private:
    const Graph& m_graph;
    std::unordered_set<TensorId> m_seen;
};

/// Memory of a run of a graph, estimated from shapes.
struct MemoryEstimate
{
    std::int64_t weights = 0; ///< bytes of parameters, buffers and constants
    std::int64_t live = 0; ///< peak bytes of simultaneously live values
    /// Memory sufficient for the run: weights, twice the live values (an operator's scratch memory
    /// is about as large as its operands), and 300 MiB for a device's libraries.
    std::int64_t needed() const { return weights + 2 * live + (std::int64_t(300) << 20); }
    /// Minimum memory of the stages from calibration to export on the CPU: the weights, their
    /// integers in two forms, and the live values of the float and the converted model.
    std::int64_t least() const { return weights + weights / 2 + 2 * live; }
};

/// Returns the estimate for these inputs. Views share their tensor's memory; values of unknown
/// shape are not counted.
MemoryEstimate estimateMemory(const Graph& graph, const std::vector<at::IValue>& inputs);

/// The same for batches of `samples`, the size of the inputs' symbolic first dimensions; other
/// symbolic dimensions have their traced sizes.
MemoryEstimate estimateMemory(const Graph& graph, std::int64_t samples);

/// Fails (Device) if a run does not fit in `freeBytes` of `device`. The error has both figures and,
/// if the batch size is variable, one that fits.
Result<void> checkFits(const MemoryEstimate& estimate, std::int64_t freeBytes, std::int64_t samples,
                       const std::string& device);

/// The same for all stages on the CPU: fails only if the minimum does not fit. `freeBytes`: from
/// `mainMemoryLeft`.
Result<void> checkFitsHere(const MemoryEstimate& estimate, std::int64_t freeBytes,
                           std::int64_t samples);

} // namespace qs
