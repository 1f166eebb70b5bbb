// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/planner.h"
#include "tests/engine/plan/graph_maker.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <iostream>

namespace {

/// A decoder of attention and feed-forward blocks with about `operators` operators, blocks of
/// convolution, batch norm and relu among them: what a big mixed model asks of the planner.
qs::Graph makeDecoder(int operators)
{
    qs::GraphMaker m;
    qs::ValueRef x = m.input("tokens");
    for (int layer = 0; layer * 20 < operators; ++layer) {
        const std::string at = "layers." + std::to_string(layer) + ".";
        const auto q = m.linear(at + "attention.q", x);
        const auto k = m.method(at + "k_t", "transpose", m.linear(at + "attention.k", x));
        const auto v = m.linear(at + "attention.v", x);
        const auto scores = m.op(at + "scores", "aten.matmul.default", {{"self", q}, {"other", k}},
                                 "", "Model", "builtin_function_or_method.matmul");
        const auto weights
            = m.op(at + "softmax", "aten.softmax.int", {{"self", scores}, {"dim", -1}},
                   at + "softmax", "torch.nn.Softmax", "function.softmax");
        const auto mixed
            = m.op(at + "mixed", "aten.matmul.default", {{"self", weights}, {"other", v}}, "",
                   "Model", "builtin_function_or_method.matmul");
        const auto joined
            = m.method(at + "joined", "reshape", m.method(at + "p", "permute", mixed));
        x = m.plus(at + "residual", m.linear(at + "attention.o", joined), x);
        const auto up = m.relu(at + "act", m.linear(at + "up", x));
        x = m.plus(at + "residual2", m.linear(at + "down", up), x);
        const auto wide = m.relu(at + "relu", m.batchNorm(at + "bn", m.conv(at + "conv", x)));
        x = m.relu(at + "relu2", m.plus(at + "residual3", wide, x));
        x = m.method(at + "out", "contiguous", m.cat(at + "cat", {x, wide}));
    }
    return m.finish({x});
}

} // namespace

/// bench_planning [OPERATORS [ROUNDS]]: median milliseconds of makePlan under backend x86.
int main(int argc, char** argv)
{
    const int operators = argc > 1 ? std::atoi(argv[1]) : 20000;
    const int rounds = argc > 2 ? std::atoi(argv[2]) : 5;
    const qs::Graph graph = makeDecoder(operators);
    const qs::Recipe recipe = qs::defaultRecipe();
    const auto backend = qs::findBackend(recipe.target());
    if (!backend || rounds < 1)
        return 1;
    std::vector<double> times;
    int quantized = 0, total = 0;
    for (int i = 0; i < rounds; ++i) {
        const auto start = std::chrono::steady_clock::now();
        const auto plan = qs::makePlan(graph, recipe, *backend);
        times.push_back(
            std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
                .count());
        if (!plan)
            return 1;
        quantized = plan->quantizedOps;
        total = plan->totalOps;
    }
    std::sort(times.begin(), times.end());
    std::cout << "{\"operators\": " << total << ", \"quantized\": " << quantized
              << ", \"median_ms\": " << times[times.size() / 2] << "}\n";
    return 0;
}
