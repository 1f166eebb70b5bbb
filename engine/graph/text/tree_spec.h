// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace qs {

/// How a model's inputs or outputs nest: Python's pytree, as a `.pt2` file spells it. A value.
struct TreeSpec
{
    enum class Kind
    {
        Leaf,
        Tuple,
        List,
        Dict, ///< any mapping; `keys` name the children
        NamedTuple ///< `keys` name the fields, `typeName` the class
    };
    Kind kind = Kind::Leaf;
    std::string typeName; ///< "builtins.dict", "torchvision.models.googlenet.GoogLeNetOutputs"
    std::vector<std::string> keys; ///< of Dict and NamedTuple, one per child
    std::vector<TreeSpec> children;

    std::size_t leafCount() const;
};

/// Field names of the namedtuple classes that a spec mentions, by class.
using NamedTupleFields = std::map<std::string, std::vector<std::string>>;

/// Reads `[1, {"type": ..., "context": ..., "children_spec": [...]}]`. A container of an unknown
/// class whose context names its children is taken as a mapping, another one as a tuple. The error
/// (BadInput) quotes the unknown part.
Result<TreeSpec> parseTreeSpec(const std::string& json, const NamedTupleFields& fields = {});

/// The same text form for a model without one: `(args, kwargs)` with that many plain arguments.
std::string flatInputSpec(std::size_t arguments);
/// A leaf for one output, a tuple for more or none.
std::string flatOutputSpec(std::size_t outputs);

} // namespace qs
