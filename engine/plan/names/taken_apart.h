// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/plan/match/pattern_matcher.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace qs {

/// Recurrent layers that a file holds as single steps: class by path. `run_decompositions()` splits
/// layers, `torch.jit.trace` splits cells. Only a whole layer can be quantized, and steps cannot be
/// joined again, because LibTorch's layer sums in another order.
std::map<std::string, std::string> layersTakenApart(const Graph& graph, const OpNames& names);

/// The tool that split the layers of such a file, and how to export them whole.
struct Taker
{
    std::string name, remedy;
};
Taker takerOf(const Graph& graph);

/// For a class whose tensors torch.nn.utils.parametrize computes in each run (weight_norm): the
/// bare name of the original class, "Conv1d". Empty for any other class.
std::string_view classBeforeParametrization(std::string_view moduleClass);
/// Whether a parametrization computes a weight or bias of the layer in each run; false once these
/// are folded and thus stored.
bool hasComputedTensors(const Graph& graph, const Node& layer, const OpName& name);
/// Advice on how to quantize the module at `path` as a plain one: fold its computed weight, or
/// export it without parametrization.
std::string removalOfParametrization(const Graph& graph, const std::string& path);

} // namespace qs
