// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/execute/interpreter.h"

#include <ATen/core/Tensor.h>

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace qs {

/// The requested derivatives of one graph, and the memory they may take.
struct GradientRequest
{
    /// Values whose gradients are requested: results of operators, inputs or stored tensors. A
    /// value listed twice is reported twice.
    std::vector<ValueRef> sites;
    /// Tensors that are differentiated, for example the model's outputs (`outputArguments`).
    std::vector<ValueRef> outputs;
    /// Limit, in bytes, of the values kept at cuts; 0 = no limit. A lower limit makes segments
    /// longer but does not change results.
    std::size_t bytes = 0;
    /// A graph whose values take at most this many bytes is not cut: it runs forward once. 0 =
    /// always cut.
    std::size_t wholeBytes = std::size_t(64) << 20;
};

/// The cotangents of the outputs for probe `probe`, from 0: one tensor for each output, with its
/// shape and element type; undefined = zero. `outputs` holds the outputs' values, of the same run.
using Cotangents = std::function<Result<std::vector<at::Tensor>>(
    int probe, std::span<const at::Tensor> outputs)>;

/// Receives the gradient of one probe at one site, on the running thread. `gradient` has the
/// value's shape and element type; it is undefined if no derivative reaches an output. `segment`
/// holds the inputs of the site's node, to run it again (constants stay in the interpreter); its
/// tensors may require grad. Must not keep tensors longer than necessary. An error ends the run.
using SeeGradient = std::function<Result<void>(std::size_t site, int probe, const at::Tensor& value,
                                               const at::Tensor& gradient, const Frame& segment)>;

/// A site whose gradient lacks the part through a node without a derivative.
struct BlockedSite
{
    std::size_t site = 0; ///< index into `GradientRequest::sites`
    /// The first such node after it; invalid if no output depends on the site, or if the site is
    /// not a tensor of floats.
    NodeId node;
    bool isPartial = false; ///< a derivative still flows to an output by another path
    std::string reason; ///< "'title' (name) has no derivative"
};

/// Computes derivatives of a graph's outputs with respect to values inside it, in reverse mode and
/// by segments: a run keeps the values that are alive at a few cuts; then it runs each segment
/// again with LibTorch's autograd, from the last to the first (Chen, Xu, Zhang, Guestrin: "Training
/// Deep Nets with Sublinear Memory Cost", 2016). The time is that of two forward passes and one
/// backward pass per probe. A gradient is the total derivative over all readers of the value, as of
/// `torch.autograd.grad(outputs, site, cotangents)`, except that `detach` is the identity.
/// Operators run as in `Interpreter`, including bodies and random numbers; states start as saved.
/// Owns a copy of the interpreter, which shares its data with the caller's. One thread at a time.
class Gradients
{
public:
    /// Errors: a site or an output that the graph does not have, no output; a cancel.
    static Result<Gradients> create(const Interpreter& interpreter, GradientRequest request,
                                    const JobContext& job = {});

    /// Runs the graph forward on `inputs` (in the order of `Graph::inputs()`, on the interpreter's
    /// device), calls `cotangents` for each probe, and runs backward. Calls `see` once for each
    /// probe and each site that is a tensor of floats in this run, as soon as its segment is done:
    /// sites in any order, the probes of a site in order. All probes share one forward pass of each
    /// segment; each keeps cotangents of the values alive at its start. Errors: those of the run,
    /// of `cotangents` and of `see`; an output that is not a tensor; a wrong number or shape of
    /// cotangents; Cancelled (checked between nodes, forward and backward). An operator without a
    /// derivative is not an error: see `blocked`.
    Result<void> run(const std::vector<at::IValue>& inputs, int probes,
                     const Cotangents& cotangents, const SeeGradient& see,
                     const JobContext& job = {});

    /// Sites that lacked a derivative, or a part of it, in the runs so far; before the first run,
    /// the sites on which no output depends. In the order of the sites. Operators with integer or
    /// boolean results count only if no derivative reaches an output by another path.
    std::vector<BlockedSite> blocked() const;

    /// Number of segments of the last run; 0 before the first run.
    std::size_t segments() const;
    /// The bytes of the values that the last run kept at its cuts.
    std::size_t keptBytes() const;

private:
    struct Impl;
    explicit Gradients(std::shared_ptr<Impl> impl)
        : m_impl(std::move(impl))
    {
    }
    std::shared_ptr<Impl> m_impl;
};

} // namespace qs
