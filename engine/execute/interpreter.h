// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/execute/frame.h"
#include "engine/execute/layout.h"
#include "engine/execute/node_times.h"
#include "engine/graph/graph.h"

#include <ATen/core/ivalue.h>

#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace qs {

/// Sees a value right after it was computed, on the running thread. Must not keep the tensor unless
/// it means to. Of subgraphs it sees the observers alone, under the reference of the outermost
/// node's first output.
using Tap = std::function<Result<void>(ValueRef, const Node&, const at::IValue&)>;

/// Sees every value of a graph that a node runs, on the running thread, each time it is run.
using BodyTap = std::function<void(const Graph& body, ValueRef, const at::IValue&)>;

/// Constants that interpreters share: values computed from stored tensors alone (a folded,
/// quantized weight).
struct SharedConstants
{
    std::function<std::shared_ptr<const at::IValue>(ValueRef)> find; ///< null: not there
    std::function<void(ValueRef, const at::IValue&)> keep;
};

/// How an interpreter runs its graph.
struct InterpreterOptions
{
    at::Device device = at::kCPU;
    /// With ChannelsLast (as `fastLayout` allows) views of non-contiguous tensors are copies.
    Layout layout = Layout::AsGiven;
    /// Sees the values inside branches, loops and regions, at any depth.
    BodyTap bodies = {};
    /// Where constants are looked for before they are computed; not in subgraphs.
    SharedConstants constants = {};
    /// Receives the time of each node in `run` and `runNode`. On an asynchronous device that is
    /// only the time to queue the work. Null: not measured.
    std::shared_ptr<NodeTimes> times = nullptr;
};

/// Runs a graph node by node through the LibTorch dispatcher. Values are freed after their last
/// use. Nodes that depend on parameters and constants alone (weight quantization, prepacking) run
/// once, at first use, and are kept, as are the interpreters of subgraphs; copies share them. All
/// else is fixed by `create`. Runs on one thread at a time. Opaque nodes run through the dispatcher
/// too where the operator exists; else the run fails, naming the node.
class Interpreter
{
public:
    /// Resolves every operator. Errors: an operator LibTorch does not know (names the node) only
    /// when it is reached, so a graph with unknown nodes can be created; a cancel.
    static Result<Interpreter> create(GraphPtr graph, InterpreterOptions options = {},
                                      const JobContext& job = {});

    const Graph& graph() const;
    at::Device device() const;
    Layout layout() const;

    /// Runs the whole graph. `inputs` in the order of `Graph::inputs()`, already on the device;
    /// returns the Output node's arguments flattened in order. Checks cancel between nodes. `tap`
    /// sees every output of every op node and of every input. The call starts from the state saved
    /// in the model; given `carried`, from what that holds, and leaves the new state in it.
    Result<std::vector<at::IValue>> run(std::vector<at::IValue> inputs, const Tap& tap = {},
                                        const JobContext& job = {},
                                        ModelState* carried = nullptr) const;

    /// Puts the buffers that the model changes into a frame for stepping through a call: from
    /// `carried`, else as saved.
    Result<void> startState(Frame& frame, const ModelState& carried) const;

    /// Computes `wanted` from any cut: values already in `frame` are taken as given, everything
    /// else they need is run (inputs of the graph must be in the frame if needed). The wanted
    /// values are in `frame` afterwards; what this call computed in between is freed.
    Result<void> evaluate(Frame& frame, std::span<const ValueRef> wanted,
                          const JobContext& job = {}) const;

    /// Runs one node whose arguments are in `frame` (parameters, constants and folded values come
    /// by themselves) and puts its outputs there. Frees nothing.
    Result<void> runNode(const Node& node, Frame& frame) const;
    /// The same for a caller that never looks at the integers between a quantize and its
    /// dequantize, nor again at `expendable`: both may then be skipped over or written over.
    Result<void> runNode(const Node& node, Frame& frame, std::span<const ValueRef> expendable,
                         const JobContext& job = {}) const;

    /// Values that no node at or after `position` (index into nodes()) reads any more once that
    /// node has run: a stepping caller releases them. The Output node's arguments are never listed.
    std::span<const ValueRef> deadAfter(std::size_t position) const;
    /// True for parameters, constants and values computed from them alone; not for buffers that the
    /// model changes.
    bool isConstant(ValueRef ref) const;
    /// The value of such a node; of a buffer that the model changes, the saved one.
    Result<at::IValue> constant(ValueRef ref) const;
    /// The same, computed anew and not kept: for a caller that derives another value from it.
    Result<at::IValue> computeConstant(ValueRef ref) const;

private:
    struct Impl;
    explicit Interpreter(std::shared_ptr<Impl> impl)
        : m_impl(std::move(impl))
    {
    }
    std::shared_ptr<Impl> m_impl;
};

/// One argument as the dispatcher wants it, with references read from `frame`.
Result<at::IValue> toIValue(const Argument& argument, const Frame& frame);

} // namespace qs
