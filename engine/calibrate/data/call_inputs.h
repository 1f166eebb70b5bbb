// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/import/pt2/model_structure.h"

#include <ATen/core/ivalue.h>

#include <vector>

namespace qs {

/// Brings a caller's arguments, nested tuples and dictionaries included, into the order of the
/// graph's inputs. Borrows the graph.
class CallInputs
{
public:
    static Result<CallInputs> create(const Graph& graph);

    /// Whether a dictionary means the arguments by name, or is the model's one argument. One that
    /// names the graph's inputs is neither.
    bool takes(const at::IValue& dictionary) const;

    /// The innermost values of a call: a lone value, a tuple or list of arguments, or a dictionary
    /// that `takes` accepts. Values the export fixed are left out. Plain values without containers
    /// come back as they are. The error (BadInput) names the argument and what the model takes.
    Result<std::vector<at::IValue>> arrange(const at::IValue& call) const;

    /// The other way: all innermost values of a call, in order, from the graph's inputs. Values
    /// that the export fixed (None, a flag, a number) are in their places.
    Result<std::vector<at::IValue>> spread(const std::vector<at::IValue>& inputs) const;

    /// The arguments of an export of the model: the inputs, or all that `spread` gives, which
    /// TorchScript keeps. Errors: it takes another number of inputs.
    Result<std::vector<at::IValue>> inputsOf(const Graph& exported,
                                             const std::vector<at::IValue>& inputs) const;

private:
    Result<std::vector<at::IValue>> arguments(const at::IValue& call) const;
    std::string argumentText() const;

    ModelStructure m_structure;
    std::vector<const Node*> m_inputs; ///< the graph's
};

/// A tuple, list or dictionary.
bool isContainer(const at::IValue& value);

} // namespace qs
