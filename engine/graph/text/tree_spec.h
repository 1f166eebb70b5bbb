// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"

#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace qs {

/// Nesting of a model's inputs or outputs: Python's pytree, as stored in a `.pt2` file. A value
/// type.
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
/// class is read as a mapping if its context names its children, else as a tuple. The error
/// (BadInput) quotes the unknown part.
Result<TreeSpec> parseTreeSpec(const std::string& json, const NamedTupleFields& fields = {});

/// Returns the same text form for a model without a spec: `(args, kwargs)` with that many flat
/// arguments.
std::string flatInputSpec(std::size_t arguments);
/// Returns the text form of a flat output: a leaf for one output, else a tuple.
std::string flatOutputSpec(std::size_t outputs);

} // namespace qs
