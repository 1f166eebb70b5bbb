// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "tests/engine/plan/graph_maker.h"
#include "ui/graph/layout/block_runs.h"
#include "ui/session/text.h"

#include <QStringList>

namespace qs {

/// Builds a graph of operators, each in a separate module.
class ModuleNet
{
public:
    ValueRef input() { return m_maker.input("x"); }
    ValueRef conv(const std::string& path, ValueRef x)
    {
        const ValueRef weight = m_maker.parameter(path + ".weight");
        return op(path, "aten.conv2d.default", "torch.nn.Conv2d",
                  {{"input", x}, {"weight", weight}});
    }
    ValueRef relu(const std::string& path, ValueRef x)
    {
        return op(path, "aten.relu.default", "torch.nn.ReLU", {{"self", x}});
    }
    /// Two operators in a module.
    ValueRef module(const std::string& path, const std::string& target, ValueRef x)
    {
        m_maker.edit.modules().add(path, target);
        return op(path + ".b", target, "B",
                  {{"self", op(path + ".a", target, "A", {{"self", x}})}});
    }
    ValueRef op(const std::string& path, const std::string& target, const std::string& className,
                std::vector<NamedArgument> args)
    {
        return m_maker.op("n" + std::to_string(m_count++), target, std::move(args), path,
                          className);
    }
    GraphPtr finish(ValueRef output)
    {
        return std::make_shared<const Graph>(m_maker.finish({output}));
    }

private:
    GraphMaker m_maker;
    int m_count = 0;
};

/// Each convolution fused with its rectifier.
inline Plan fusing(const Graph& graph)
{
    Plan plan;
    for (const auto& node : graph.nodes()) {
        NodePlan decided;
        decided.node = node->id;
        if (node->target == "aten.conv2d.default") {
            decided.group = int(plan.groups.size());
            plan.groups.emplace_back();
            plan.groups.back().fused = true;
        } else if (node->target == "aten.relu.default") {
            decided.group = int(plan.groups.size()) - 1;
        }
        if (decided.group >= 0)
            plan.groups.back().members.push_back(node->id);
        plan.nodes.push_back(std::move(decided));
    }
    return plan;
}

/// The runs of repeated blocks in the graph under that tree.
inline BlockRuns runsOf(const Graph& graph, const FoldTreePtr& tree)
{
    return findBlockRuns(graph, *tree, *RepeatedModules::find(graph));
}

/// Their names, of the tree without a plan.
inline QStringList keysOf(const GraphPtr& graph)
{
    QStringList out;
    for (const auto& run : runsOf(*graph, FoldTree::build(*graph, nullptr)))
        out << toQString(run.key);
    return out;
}

} // namespace qs
