// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/node.h"

#include <string>
#include <string_view>
#include <vector>

namespace qs {

/// `SourceLocation::function` holds the functions of the stack trace that lie outside PyTorch,
/// innermost first, joined by this: "rearrange < _post_process < forward". Modules are called by
/// their `forward`; outermost ones are left out where only such follow.
inline constexpr std::string_view kCalledBy = " < ";

/// The functions, innermost first, as they stand in `SourceLocation::function`; without those that
/// called the outermost forward.
std::string joinFunctions(std::vector<std::string> innermostFirst);
/// The function before those that `callers`, joined already, names.
std::string withCallers(const std::string& function, const std::string& callers);

/// The innermost of them: the one that the source line stands in.
std::string innermostFunction(const SourceLocation& source);
/// The others, innermost first.
std::vector<std::string> callingFunctions(const SourceLocation& source);

/// The functions of one module's code that were active when the operator ran, innermost first,
/// "forward" last. `depth` 0 is the module whose code the line is of, 1 the one that called it.
std::vector<std::string> functionsOfCaller(const SourceLocation& source, std::size_t depth);

} // namespace qs
