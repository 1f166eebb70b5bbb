// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/plan/match/pattern_matcher.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace qs {

/// Recurrent layers that a file holds as single steps, by path, with their class:
/// `run_decompositions()` splits layers, `torch.jit.trace` cells. Only a whole layer can be
/// quantized, and the steps cannot be put together again: LibTorch's layer adds up in another
/// order.
std::map<std::string, std::string> layersTakenApart(const Graph& graph, const OpNames& names);

/// The tool that split the layers of such a file, and how to export them whole.
struct Taker
{
    std::string name, remedy;
};
Taker takerOf(const Graph& graph);

/// Of a class whose tensors torch.nn.utils.parametrize computes in each run, such as weight_norm's:
/// the bare name of the class before that, "Conv1d". Empty for any other class.
std::string_view classBeforeParametrization(std::string_view moduleClass);
/// Whether a parametrization computes a weight or bias of the layer in each run. Once folded they
/// are stored.
bool hasComputedTensors(const Graph& graph, const Node& layer, const OpName& name);
/// How to have the module at `path` quantized as a plain one: fold its computed weight, or export
/// it without parametrization.
std::string removalOfParametrization(const Graph& graph, const std::string& path);

} // namespace qs
