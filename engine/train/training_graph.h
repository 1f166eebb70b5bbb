// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/graph/graph.h"
#include "engine/plan/plan.h"

#include <memory>
#include <vector>

namespace qs {

/// A float graph prepared for training with simulated quantization (torch.ao's `prepare_qat_fx`).
/// Observer nodes (`kObserveTarget`) stand where torch.ao places fake-quantize modules, those of
/// weights included. A batch norm that conversion folds into a layer stays: the layer's weight is
/// scaled by it before it is rounded, and the result divided by the same factors (the approximate
/// forward of `torch.ao.nn.intrinsic.qat.ConvBn2d`). Nodes of the float graph keep their ids. A
/// value; share it as TrainingGraphPtr.
struct TrainingGraph
{
    GraphPtr model; ///< the float graph
    PlanPtr plan;
    GraphPtr graph;
    std::vector<NodeId> parameters; ///< floating-point parameters that an operator reads
    std::vector<NodeId> statistics; ///< running means and variances of batch norms
    std::vector<NodeId> batchNorms; ///< with running statistics
};
using TrainingGraphPtr = std::shared_ptr<const TrainingGraph>;

/// How the factors of batch norms are rounded.
enum class NormFactors : std::uint8_t
{
    OfTraining, ///< as in torch.ao's modules: gamma / sqrt(variance + eps)
    /// As where they are folded into weights: gamma * rsqrt(variance + eps). Weights in training
    /// are then those of the converted model to the bit; a largest weight can lie between two
    /// integers, where the last bit decides.
    OfFolding
};

/// Errors: the model runs as in training (dropout, batch norm; the error names the modules and how
/// to export); Cancelled.
Result<TrainingGraphPtr> prepareForTraining(GraphPtr model, PlanPtr plan, NormFactors factors,
                                            const JobContext& job = {});

} // namespace qs
