// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph.h"

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>

#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace qs {

/// Whether the node's call of the operator draws from PyTorch's default generator. Dropout in
/// evaluation mode, or attention without dropout, draws nothing, although their operators could.
bool drawsNumbers(const Node& node, const c10::OperatorHandle& op);
/// Whether the node, or a node in its bodies, draws random numbers.
bool drawsNumbers(const Node& node);

/// The names of the nodes that draw random numbers, in graph order; those in bodies as
/// "cond/noise".
std::vector<std::string> drawingNodes(const Graph& graph);

/// Whether both graphs draw the same numbers: nodes of the same names draw, and none in bodies,
/// which another form may run differently. True if neither draws.
bool drawAlike(const Graph& one, const Graph& other);

/// "'eps', 'drop' draw random numbers"; empty if no node does.
std::string drawingText(const Graph& graph);
/// The same for a file that draws other numbers than the graph; says which of the two draws.
std::string drawingText(const Graph& graph, const Graph& file);
/// For a plan: the nodes that draw although they are not in training mode (`warnOfModel` reports
/// those that are), and what to do about them; empty without any.
std::string drawingWarning(const Graph& graph);

/// How to make a model draw nothing: a hint for messages.
inline constexpr const char* kDrawNothing
    = "call model.eval() before exporting it where this is dropout in training mode, else make the "
      "numbers an input of the model";

/// Seeds PyTorch's default CPU generator from the node's name and the place of its graph ("" for
/// the model itself, see `bodyPlace`) only, so that each form, run and process draws the same
/// numbers. The destructor restores the generator. One object at a time: other threads wait.
class SeededDraws
{
public:
    SeededDraws(std::string_view place, std::string_view node);
    ~SeededDraws();
    SeededDraws(const SeededDraws&) = delete;
    SeededDraws& operator=(const SeededDraws&) = delete;

private:
    std::unique_lock<std::mutex> m_alone;
    at::Tensor m_before; ///< the generator's state
};

/// The place of a body for `SeededDraws`: in the graph at `place`, the `round`th run of a body by
/// this node.
std::string bodyPlace(std::string_view place, const Node& node, std::int64_t round);

} // namespace qs
