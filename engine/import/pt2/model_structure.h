// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph.h"
#include "engine/graph/text/tree_spec.h"

namespace qs {

/// One leaf argument of the model's call: an input of the graph, or a constant fixed by tracing,
/// which is not in the graph.
struct InputLeaf
{
    const Node* node = nullptr; ///< null for a constant
    Argument constant;
    std::string name; ///< name in the file or the graph; may be empty
};

/// The calling convention of a model. Borrows the graph's nodes.
struct ModelStructure
{
    TreeSpec inputs; ///< `(args, kwargs)`: a tuple of a tuple and a mapping
    std::vector<InputLeaf> leaves; ///< of `inputs`, in order
    std::vector<std::string> argumentNames; ///< one per child of args, then of kwargs
    TreeSpec outputs; ///< leaves: the Output node's arguments in order
};

/// Reads it from the file's record; flat if the record is missing or does not match the graph.
Result<ModelStructure> modelStructure(const Graph& graph);

} // namespace qs
