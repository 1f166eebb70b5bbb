// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/error.h"
#include "engine/graph/graph.h"

#include <functional>
#include <string>

namespace qs {

/// Returns the text that replaces a node's quoted name in a sentence; empty if no node has the
/// name.
using NodeWording = std::function<std::string(const std::string& name)>;

/// Replaces each quoted node name in the sentence ('conv2d_2', quotes included) by the result of
/// `wording`. A name that the sentence calls something else stays: "module 'head'".
std::string withNodeWords(const std::string& sentence, const NodeWording& wording);

/// The error with a node of `form` replaced by the node of `model` from which it was made.
Error atModelNode(Error error, const Graph& form, const Graph& model);

} // namespace qs
