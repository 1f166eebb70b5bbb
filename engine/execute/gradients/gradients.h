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
    /// Values whose gradient is wanted: of operators, inputs or stored tensors. One listed twice is
    /// seen twice.
    std::vector<ValueRef> sites;
    /// Tensors that are differentiated; the model's outputs, say (`outputArguments`).
    std::vector<ValueRef> outputs;
    /// Bytes that may be used for the values kept at cuts; 0 = no limit. Less memory here makes
    /// longer segments, never another result.
    std::size_t bytes = 0;
    /// A graph whose values take no more than so many bytes in all is not cut: it runs forward
    /// once. 0 = it is cut in any case.
    std::size_t wholeBytes = std::size_t(64) << 20;
};

/// The cotangents of the outputs for probe `probe`, from 0: one tensor for each output, with its
/// shape and element type; undefined = zero. `outputs` holds the outputs' values, of the same run.
using Cotangents = std::function<Result<std::vector<at::Tensor>>(
    int probe, std::span<const at::Tensor> outputs)>;

/// Sees the gradient of one probe at one site, on the running thread. `gradient` has the value's
/// shape and element type; undefined where no derivative reaches an output. `segment` holds what
/// the node that makes the site reads (constants are the interpreter's own), to run it again; its
/// tensors may require grad. Must not keep a tensor unless it means to. An error ends the run.
using SeeGradient = std::function<Result<void>(std::size_t site, int probe, const at::Tensor& value,
                                               const at::Tensor& gradient, const Frame& segment)>;

/// A site whose gradient lacks the part through a node without a derivative.
struct BlockedSite
{
    std::size_t site = 0; ///< place in `GradientRequest::sites`
    /// The first such node after it; none where no output depends on the site, or where the site is
    /// not a tensor of floats.
    NodeId node;
    bool isPartial = false; ///< something flows to an output, past the node
    std::string reason; ///< "'title' (name) has no derivative"
};

/// Derivatives of a graph's outputs with respect to values inside it, in reverse mode and by
/// segments: a run keeps the values alive at a few cuts, and every segment between two is run again
/// with LibTorch's autograd when its turn comes, from the last to the first (Chen, Xu, Zhang,
/// Guestrin: "Training Deep Nets with Sublinear Memory Cost", 2016). Time: two forwards and as many
/// backwards as probes. A gradient is the total derivative, the sum over all readers of the value,
/// as `torch.autograd.grad(outputs, site, cotangents)` gives it, save that `detach` is the
/// identity. Operators run as `Interpreter` runs them, bodies and random numbers included; states
/// start as saved. Owns a copy of the interpreter (which shares all with the caller's). One thread
/// at a time.
class Gradients
{
public:
    /// Errors: a site or an output that the graph does not have, no output; a cancel.
    static Result<Gradients> create(const Interpreter& interpreter, GradientRequest request,
                                    const JobContext& job = {});

    /// Runs the graph forward on `inputs` (in the order of `Graph::inputs()`, on the interpreter's
    /// device), asks for the cotangents of each of the probes, and goes back. `see` is called once
    /// for each probe and site that is a tensor of floats in this run, as soon as its segment is
    /// done: sites come in no particular order, of one site the probes in theirs. All probes share
    /// one forward of each segment and keep a cotangent each for the values alive at its start.
    /// Errors: those of the run, an output that is not a tensor, cotangents of another number or
    /// shape, those of `cotangents` and `see`, a cancel (checked between nodes, forward and back).
    /// An operator without a derivative is not an error: see `blocked`.
    Result<void> run(const std::vector<at::IValue>& inputs, int probes,
                     const Cotangents& cotangents, const SeeGradient& see,
                     const JobContext& job = {});

    /// Sites that lack a derivative, or a part of it, as the runs so far have shown; before the
    /// first run those that no output depends on. In the order of the sites. Operators with
    /// integer or boolean results count only where nothing else reaches an output.
    std::vector<BlockedSite> blocked() const;

    /// Into how many segments the last run was cut; 0 before the first.
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
