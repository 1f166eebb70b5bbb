// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/convert/convert.h"
#include "engine/execute/interpreter.h"
#include "engine/prepare/prepare.h"
#include "tests/support/tensor_compare.h"
#include "tests/support/tiny_graph.h"

#include <stdexcept>

namespace qs::test {

/// A graph with a plan made by hand: observers in the order they are asked for.
struct Case
{
    TinyGraph tiny;
    std::shared_ptr<Plan> plan = std::make_shared<Plan>();
    QParamsTable qparams;
    GraphPtr graph;
    Recipe recipe;

    ObserverId observe(const std::vector<ValueRef>& values, float min, float max)
    {
        PlannedObserver observer;
        observer.id = ObserverId(std::uint32_t(plan->observers.size() + 1));
        for (ValueRef value : values)
            observer.edges.push_back({value, {}});
        plan->observers.push_back(observer);
        QParams q;
        q.quantMax = 127;
        q.scale = {(max - min) / 127};
        q.zeroPoint = {std::int64_t(std::lround(-min / q.scale[0]))};
        qparams[observer.id] = q;
        return observer.id;
    }
    void weight(NodeId owner, const at::Tensor& w, int axis)
    {
        PlannedObserver observer;
        observer.id = ObserverId(std::uint32_t(plan->observers.size() + 1));
        observer.isWeight = true;
        observer.weightOwner = owner;
        observer.spec.dtype = DType::QInt8;
        plan->observers.push_back(observer);
        QParams q;
        q.dtype = DType::QInt8;
        q.quantMin = -128;
        q.quantMax = 127;
        q.axis = axis < 0 ? 0 : axis;
        q.qscheme = axis < 0 ? QScheme::PerTensorSymmetric : QScheme::PerChannelSymmetric;
        const at::Tensor top = axis < 0 ? w.abs().max().reshape({1})
                                        : w.transpose(0, axis).flatten(1).abs().amax({1});
        for (std::int64_t i = 0; i < top.numel(); ++i) {
            q.scale.push_back(top[i].item<float>() / 127.5f);
            q.zeroPoint.push_back(0);
        }
        qparams[observer.id] = q;
    }
    void group(std::vector<NodeId> members)
    {
        MatchGroup group;
        group.root = members.front();
        group.members = std::move(members);
        group.quantized = true;
        group.fused = group.members.size() > 1;
        plan->groups.push_back(group);
    }
    Result<ConvertedPtr> convert(const at::Tensor& x)
    {
        plan->nodes.resize(graph->nodes().size());
        QS_TRY(const PreparedPtr prepared, prepareModel(graph, plan));
        Batch batch;
        batch.inputs = {x};
        return convertModel(prepared, qparams, recipe, {&batch});
    }
};

inline int count(const Graph& graph, const std::string& target)
{
    int found = 0;
    for (const auto& node : graph.nodes())
        found += node->isOp(target);
    return found;
}

inline at::Tensor runOn(const GraphPtr& graph, const at::Tensor& x)
{
    auto made = Interpreter::create(graph)->run({x});
    if (!made)
        throw std::runtime_error(made.error().line());
    return made->at(0).toTensor();
}

} // namespace qs::test
