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

/// Whether calls of the operator by this node draw from PyTorch's default generator. Dropout in
/// evaluation draws nothing, nor does attention without it, though their operators could.
bool drawsNumbers(const Node& node, const c10::OperatorHandle& op);
/// Whether the node does, or one in its bodies.
bool drawsNumbers(const Node& node);

/// The names of the nodes that draw random numbers, in graph order; those in bodies as
/// "cond/noise".
std::vector<std::string> drawingNodes(const Graph& graph);

/// Whether both draw the same numbers: by nodes of the same names, and none in bodies, which
/// another form may run otherwise. True where neither draws.
bool drawAlike(const Graph& one, const Graph& other);

/// "'eps', 'drop' draw random numbers"; empty where no node does.
std::string drawingText(const Graph& graph);
/// The same for a file that does not draw as the graph does; says whose nodes draw.
std::string drawingText(const Graph& graph, const Graph& file);
/// For a plan: the nodes that draw although they are not in training mode (`warnOfModel` reports
/// those that are), and what to do about them; empty without any.
std::string drawingWarning(const Graph& graph);

/// How to make a model draw nothing: a hint for messages.
inline constexpr const char* kDrawNothing
    = "call model.eval() before exporting it where this is dropout in training mode, else make the "
      "numbers an input of the model";

/// While it lives, PyTorch's default CPU generator is seeded by the node's name and the place of
/// its graph ("" for the model itself, see `bodyPlace`) alone: the same numbers in each form, run
/// and process. Puts the generator back as it was. One at a time: others wait.
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

/// The place of a body, on the `round`th run of one by the node since this was reached.
std::string bodyPlace(std::string_view place, const Node& node, std::int64_t round);

} // namespace qs
