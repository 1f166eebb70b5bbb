// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/convert/lowering/emit/emit_kernel.h"
#include "engine/convert/lowering/lower.h"

#include <optional>

namespace qs {

/// The parameters of a quantize node.
struct QuantizeParams
{
    double scale = 1;
    std::int64_t zeroPoint = 0;
    DType dtype = DType::Unknown;
    friend bool operator==(const QuantizeParams&, const QuantizeParams&) = default;
};

/// Parameters of an `aten.quantize_per_tensor.default`; empty if they are computed.
std::optional<QuantizeParams> paramsOf(const Node& quantize);

/// Which values of a draft are quantized tensors, and with which parameters.
struct QuantizedValues
{
    std::unordered_map<ValueRef, NodeId> quantizeOf; ///< to the reference form's quantize node
    std::unordered_map<NodeId, QuantizeParams> gone; ///< of removed quantize nodes
    /// Values whose kernel chooses its parameters itself, unlike the recorded ones.
    std::unordered_set<ValueRef> ownParams;
    std::unordered_set<ValueRef> stray; ///< results of matches with `KernelMatch::strays`
    std::optional<QuantizeParams> paramsOfValue(const GraphEdit& edit, ValueRef quantized) const;
};

/// The row's operators in forward order up to `last`, each read only by the next; empty if the
/// operators differ or a value has other readers (see `why`).
std::vector<NodeId> kernelChain(const GraphEdit& edit, const KernelRow& row, NodeId last,
                                std::string& why);

/// The match of the row before the quantize node; else empty. If the operators are the row's, `why`
/// then gives the obstacle.
std::optional<KernelMatch> matchKernel(const GraphEdit& edit, const LoweringOptions& options,
                                       const QuantizedValues& values, NodeId quantize,
                                       const KernelRow& row, std::string& why);

} // namespace qs
