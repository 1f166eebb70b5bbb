// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/import/pt2/model_structure.h"

#include <ATen/core/ivalue.h>

#include <vector>

namespace qs {

/// Converts a call's arguments, including nested tuples and dictionaries, to the order of the
/// graph's inputs. Borrows the graph.
class CallInputs
{
public:
    static Result<CallInputs> create(const Graph& graph);

    /// True if a dictionary contains the arguments by name, or is the model's only argument. False
    /// for one that names the graph's inputs.
    bool takes(const at::IValue& dictionary) const;

    /// Returns the leaf values of a call: a single value, a tuple or list of arguments, or a
    /// dictionary that `takes` accepts. Omits values that the export fixed. Plain values without
    /// containers are returned unchanged. The error (BadInput) names the argument and what the
    /// model takes.
    Result<std::vector<at::IValue>> arrange(const at::IValue& call) const;

    /// The inverse: returns all leaf values of a call, in order, from the graph's inputs, including
    /// values that the export fixed (None, a flag, a number).
    Result<std::vector<at::IValue>> spread(const std::vector<at::IValue>& inputs) const;

    /// Returns the arguments of an exported model: the inputs, or all values of `spread`, which
    /// TorchScript keeps. Fails if the number of inputs does not match.
    Result<std::vector<at::IValue>> inputsOf(const Graph& exported,
                                             const std::vector<at::IValue>& inputs) const;

private:
    Result<std::vector<at::IValue>> arguments(const at::IValue& call) const;
    std::string argumentText() const;

    ModelStructure m_structure;
    std::vector<const Node*> m_inputs; ///< inputs of the graph
};

/// True for a tuple, list or dictionary.
bool isContainer(const at::IValue& value);

} // namespace qs
