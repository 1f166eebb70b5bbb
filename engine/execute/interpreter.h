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

/// Receives a value right after it was computed, on the running thread. Should not keep tensors,
/// since that holds their memory. In subgraphs only observers are reported, with the reference of
/// the outermost node's first output.
using Tap = std::function<Result<void>(ValueRef, const Node&, const at::IValue&)>;

/// Receives every value of a graph inside a node, on the running thread, at each run of that graph.
using BodyTap = std::function<void(const Graph& body, ValueRef, const at::IValue&)>;

/// Computes the result of an observer node from its input, on the running thread.
using ObserverResult = std::function<Result<at::IValue>(const Node& observer, const at::IValue&)>;

/// A cache of constants that interpreters share: values computed only from stored tensors (a
/// folded, quantized weight).
struct SharedConstants
{
    std::function<std::shared_ptr<const at::IValue>(ValueRef)> find; ///< returns null if not cached
    std::function<void(ValueRef, const at::IValue&)> keep;
};

/// How an interpreter runs its graph.
struct InterpreterOptions
{
    at::Device device = at::kCPU;
    /// With ChannelsLast (as `fastLayout` allows) views of non-contiguous tensors are copies.
    Layout layout = Layout::AsGiven;
    /// Receives the values inside branches, loops and regions, at any depth.
    BodyTap bodies = {};
    /// Searched for constants before they are computed; not used in subgraphs.
    SharedConstants constants = {};
    /// Runs observers at any depth, bodies included. Empty: an observer returns its input.
    ObserverResult observed = {};
    /// Receives the time of each node in `run` and `runNode`. On an asynchronous device that is
    /// only the time to queue the work. Null: not measured.
    std::shared_ptr<NodeTimes> times = nullptr;
};

/// Runs a graph node by node through the LibTorch dispatcher. Frees values after their last use.
/// Nodes that depend only on parameters and constants (weight quantization, prepacking) run once,
/// at first use; their values and the interpreters of subgraphs are cached, and copies share them.
/// Otherwise immutable after `create`. Runs on one thread at a time. Opaque nodes run through the
/// dispatcher too if the operator exists; else the run fails and names the node.
class Interpreter
{
public:
    /// Resolves every operator. Fails only if cancelled: a node with an unknown operator fails when
    /// it is run (names the node).
    static Result<Interpreter> create(GraphPtr graph, InterpreterOptions options = {},
                                      const JobContext& job = {});

    const Graph& graph() const;
    at::Device device() const;
    Layout layout() const;

    /// Runs the whole graph. `inputs` in the order of `Graph::inputs()`, already on the device;
    /// returns the Output node's arguments, flattened in order. Checks for a cancel between nodes.
    /// `tap` receives every output of every op node and of every input. Starts from the state saved
    /// in the model or, if `carried` is given, from its state, and stores the new state there.
    Result<std::vector<at::IValue>> run(std::vector<at::IValue> inputs, const Tap& tap = {},
                                        const JobContext& job = {},
                                        ModelState* carried = nullptr) const;

    /// Puts the buffers that the model changes into a frame for stepping through a call: from
    /// `carried`, else as saved.
    Result<void> startState(Frame& frame, const ModelState& carried) const;

    /// Computes `wanted`, starting from the values that are already in `frame`; runs all other
    /// nodes that they need (needed inputs of the graph must be in the frame). Afterwards the
    /// wanted values are in `frame`; intermediate values are freed.
    Result<void> evaluate(Frame& frame, std::span<const ValueRef> wanted,
                          const JobContext& job = {}) const;

    /// Runs one node whose arguments are in `frame` (except parameters, constants and folded
    /// values, which need not be) and stores its outputs there. Frees nothing.
    Result<void> runNode(const Node& node, Frame& frame) const;
    /// The same for a caller that needs neither the integers between a quantize and its dequantize,
    /// which then need not be computed, nor the values `expendable`, which may be overwritten.
    Result<void> runNode(const Node& node, Frame& frame, std::span<const ValueRef> expendable,
                         const JobContext& job = {}) const;

    /// Values that no node reads after the one at `position` (index into nodes()): a caller that
    /// steps through the graph releases them. Never lists the Output node's arguments.
    std::span<const ValueRef> deadAfter(std::size_t position) const;
    /// True for parameters, constants and values computed only from them; false for buffers that
    /// the model changes.
    bool isConstant(ValueRef ref) const;
    /// The value of a constant (`isConstant`), or the saved value of a buffer that the model
    /// changes.
    Result<at::IValue> constant(ValueRef ref) const;
    /// The same, computed again and not cached, for a caller that derives another value from it.
    Result<at::IValue> computeConstant(ValueRef ref) const;

private:
    struct Impl;
    explicit Interpreter(std::shared_ptr<Impl> impl)
        : m_impl(std::move(impl))
    {
    }
    std::shared_ptr<Impl> m_impl;
};

/// An argument as a value for the dispatcher, with references read from `frame`.
Result<at::IValue> toIValue(const Argument& argument, const Frame& frame);

} // namespace qs
