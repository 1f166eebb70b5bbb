// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/node.h"

#include <string>
#include <string_view>
#include <vector>

namespace qs {

/// Returns the public name of a module class: "torch.nn.Conv2d" for "torch.nn.modules.conv.Conv2d";
/// others unchanged.
std::string publicClassName(std::string_view moduleClass);

/// torch.export's module name for a node without a module.
inline constexpr std::string_view kNoModule = "_empty_nn_module_stack_from_metadata_hook";

/// Parses a node's `nn_module_stack` text, "key,path,class;...", outermost first. A call suffix
/// ("block@1", on the key or the path) becomes the call index.
std::vector<Scope> parseModuleStack(std::string_view text);

/// True for a file of PyTorch itself, also if paths are relative to site-packages.
bool isInsideTorch(std::string_view file);

/// Returns the innermost frame of a `stack_trace` text outside PyTorch, with its callers
/// (`joinFunctions`). If all frames are inside PyTorch, returns the innermost one.
SourceLocation parseStackTrace(std::string_view text);

} // namespace qs
