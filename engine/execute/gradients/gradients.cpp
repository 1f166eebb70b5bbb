// SPDX-License-Identifier: Apache-2.0
#include "engine/execute/gradients/gradients.h"

#include "engine/base/torch_guard.h"
#include "engine/execute/gradients/gradient_run.h"
#include "engine/execute/gradients/segment_cuts.h"
#include "engine/graph/text/node_titles.h"

#include <algorithm>

namespace qs {

namespace {

Result<void> checkValues(const Graph& graph, const std::vector<ValueRef>& values, const char* what)
{
    for (const ValueRef ref : values)
        if (const Node* node = graph.tryGet(ref.node); !node || ref.index >= node->outputs.size())
            return fail(ErrorCode::Internal, std::string(what) + " is not a value of the graph");
    return {};
}

} // namespace

struct Gradients::Impl
{
    Impl(const Interpreter& runner, GradientRequest wanted)
        : interpreter(runner)
        , request(std::move(wanted))
        , steps(runner.graph(), request.sites, request.outputs,
                [&](ValueRef ref) { return runner.isConstant(ref); })
        , cuts({request.bytes, request.wholeBytes})
    {
        findings.reached.resize(request.sites.size());
        findings.isFloat.assign(request.sites.size(), true);
    }

    using Stop = std::pair<NodeId, GradientStops::Kind>;
    /// The nodes after the site that stop a derivative, in order. If a derivative reaches the site,
    /// only those without a derivative.
    std::vector<Stop> stopsAfter(ValueRef site, bool isReached) const;

    Interpreter interpreter;
    GradientRequest request;
    GradientSteps steps;
    GradientFindings findings;
    CutsOfCalls cuts;
};

std::vector<Gradients::Impl::Stop> Gradients::Impl::stopsAfter(ValueRef site, bool isReached) const
{
    using Kind = GradientStops::Kind;
    const GradientStops& stops = findings.stops;
    std::vector<Stop> found;
    std::unordered_set<ValueRef> flowing {site};
    const std::size_t made = steps.madeAt(site);
    for (std::size_t step = made == GradientSteps::kNever ? 0 : made + 1; step < steps.size();
         ++step) {
        const Node& node = steps.node(step);
        const auto left = stops.unfollowed.find(node.id);
        bool enters = false, isLeftOut = false, reaches = false;
        for (const ValueRef ref : steps.reads(step)) {
            const bool isFollowed = left == stops.unfollowed.end() || !left->second.contains(ref);
            enters = enters || (flowing.contains(ref) && isFollowed);
            isLeftOut = isLeftOut || (flowing.contains(ref) && !isFollowed);
        }
        for (std::uint32_t i = 0; i < node.outputs.size(); ++i)
            reaches = reaches || steps.reachesOutput({node.id, i});
        const auto stop = stops.seen.find(node.id);
        const bool passes = enters && stop == stops.seen.end();
        if (passes)
            for (std::uint32_t i = 0; i < node.outputs.size(); ++i)
                flowing.insert({node.id, i});
        if (!reaches)
            continue;
        if (isLeftOut)
            found.emplace_back(node.id, Kind::NoDerivative);
        else if (enters && !passes && (!isReached || stop->second == Kind::NoDerivative))
            found.emplace_back(node.id, stop->second);
    }
    return found;
}

Result<Gradients> Gradients::create(const Interpreter& interpreter, GradientRequest request,
                                    const JobContext& job)
{
    QS_CHECK(checkValues(interpreter.graph(), request.sites, "a site"));
    QS_CHECK(checkValues(interpreter.graph(), request.outputs, "an output"));
    if (request.outputs.empty())
        return fail(ErrorCode::BadInput, "there is no output to differentiate");
    QS_CHECK(job.check());
    return Gradients(std::make_shared<Impl>(interpreter, std::move(request)));
}

Result<void> Gradients::run(const std::vector<at::IValue>& inputs, int probes,
                            const Cotangents& cotangents, const SeeGradient& see,
                            const JobContext& job)
{
    const InferenceScope scope;
    Impl& impl = *m_impl;
    return guardTorch([&]() -> Result<void> {
        GradientRun run(impl.interpreter, impl.steps, impl.request, impl.findings, job);
        QS_CHECK(run.forward(inputs, impl.cuts.of(impl.interpreter.graph(), impl.steps, inputs)));
        return run.backward(probes, cotangents, see);
    });
}

std::vector<BlockedSite> Gradients::blocked() const
{
    const Impl& impl = *m_impl;
    const Graph& graph = impl.interpreter.graph();
    const NodeTitles titles(graph);
    const auto titled = [&](NodeId id) {
        const Node& node = graph.get(id);
        return "'" + titles.of(node) + "' (" + node.name + ")";
    };
    std::vector<BlockedSite> blocked;
    for (std::size_t i = 0; i < impl.request.sites.size(); ++i) {
        const ValueRef site = impl.request.sites[i];
        const bool isReached = impl.findings.reached[i];
        if (!impl.findings.isFloat[i] || !graph.value(site).type.mayBeFloat()) {
            blocked.push_back({i, {}, false, titled(site.node) + " is not a tensor of floats"});
            continue;
        }
        if (!impl.steps.reachesOutput(site)) {
            blocked.push_back({i, {}, false, "no output depends on " + titled(site.node)});
            continue;
        }
        const auto stops = impl.stopsAfter(site, isReached);
        if (stops.empty())
            continue;
        const auto [node, kind] = stops.front();
        const bool isInteger = kind == GradientStops::Kind::Integers;
        blocked.push_back({i, node, isReached,
                           titled(node)
                               + (isInteger ? " gives integers, which have no derivative"
                                            : " has no derivative")});
    }
    return blocked;
}

std::size_t Gradients::segments() const
{
    return m_impl->findings.segments;
}

std::size_t Gradients::keptBytes() const
{
    return m_impl->findings.keptBytes;
}

} // namespace qs
