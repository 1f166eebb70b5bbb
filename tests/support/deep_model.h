// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/configure/backend_config.h"
#include "engine/plan/planner.h"
#include "tests/support/tiny_graph.h"

namespace qs::test {

/// A chain of `blocks` blocks of four operators (linear, add, relu, mul), with its plan. The slope
/// of a block is below one and its bias above zero, so that values neither grow nor vanish in a
/// long chain.
struct DeepModel
{
    GraphPtr graph;
    PlanPtr plan;
    Recipe recipe = defaultRecipe();

    explicit DeepModel(int blocks)
    {
        TinyGraph tiny;
        ValueRef x = tiny.input("x", {2, 8});
        const at::Tensor w = (at::rand({8, 8}) - 0.5) / 8, b = 0.5 + at::rand({8});
        std::vector<std::pair<ValueRef, ValueRef>> layers;
        for (int i = 0; i < blocks; ++i) {
            const std::string name = "l" + std::to_string(i);
            const ValueRef weight = tiny.parameter(name + ".weight", w);
            layers.emplace_back(weight, tiny.parameter(name + ".bias", b));
        }
        for (const auto& [weight, bias] : layers) {
            const ValueRef y = tiny.op("aten.linear.default",
                                       {{"input", x}, {"weight", weight}, {"bias", bias}}, {2, 8});
            x = tiny.op("aten.add.Tensor", {{"self", y}, {"other", x}}, {2, 8});
            x = tiny.op("aten.relu.default", {{"self", x}}, {2, 8});
            x = tiny.op("aten.mul.Tensor", {{"self", x}, {"other", 0.5}}, {2, 8});
        }
        graph = tiny.finish({x});
        plan = std::make_shared<const Plan>(
            makePlan(*graph, recipe, findBackend("x86").value()).value());
    }
};

} // namespace qs::test
