// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/plan/match/pattern_matcher.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace qs {

/// Recurrent layers that a file holds as their single steps, by path, with their class: what
/// `run_decompositions()` makes of them, and of cells `torch.jit.trace`. Only a whole layer can be
/// quantized, and the steps cannot be put together again: LibTorch's layer adds up in another
/// order.
std::map<std::string, std::string> layersTakenApart(const Graph& graph, const OpNames& names);

/// Who took the layers of such a file apart, and how to export them whole.
struct Taker
{
    std::string name, remedy;
};
Taker takerOf(const Graph& graph);

/// Whether a class of modules is one whose tensors torch.nn.utils.parametrize computes in each run,
/// such as weight_norm's.
bool isParametrized(std::string_view moduleClass);
/// The modules of such classes of which operators stand in the graph as steps, by path.
std::vector<std::string> parametrizedLayers(const Graph& graph, const OpNames& names);
/// How to export the module at `path` as a plain one: "call ..remove_parametrizations(..) ..".
std::string removalOfParametrization(const Graph& graph, const std::string& path);

} // namespace qs
