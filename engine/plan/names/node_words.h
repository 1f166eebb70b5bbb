// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/error.h"
#include "engine/graph/graph.h"

#include <functional>
#include <string>

namespace qs {

/// What stands in a sentence for the quoted name of a node; empty: there is no such node.
using NodeWording = std::function<std::string(const std::string& name)>;

/// The sentence with what `wording` gives in place of each quoted name of a node ('conv2d_2', with
/// its quotes). Names that the sentence calls something else stay: "module 'head'".
std::string withNodeWords(const std::string& sentence, const NodeWording& wording);

/// The error; one at a node of the form is at the model's node which that was made from.
Error atModelNode(Error error, const Graph& form, const Graph& model);

} // namespace qs
