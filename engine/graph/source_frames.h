// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/node.h"

#include <string>
#include <string_view>
#include <vector>

namespace qs {

/// Separator in `SourceLocation::function`, which contains the stack trace's functions outside
/// PyTorch, innermost first: "rearrange < _post_process < forward". A module's call appears as its
/// `forward`; trailing `forward`s are omitted if nothing else follows.
inline constexpr std::string_view kCalledBy = " < ";

/// Joins the functions, innermost first, to the text of `SourceLocation::function`; omits callers
/// of the outermost forward.
std::string joinFunctions(std::vector<std::string> innermostFirst);
/// Returns `function` followed by the already joined `callers`.
std::string withCallers(const std::string& function, const std::string& callers);

/// Returns the innermost function: the one that contains the source line.
std::string innermostFunction(const SourceLocation& source);
/// The others, innermost first.
std::vector<std::string> callingFunctions(const SourceLocation& source);

/// Returns the functions of one module's code that were active when the operator ran, innermost
/// first, "forward" last. `depth` 0 is the module whose code contains the line, 1 the module that
/// called it.
std::vector<std::string> functionsOfCaller(const SourceLocation& source, std::size_t depth);

} // namespace qs
