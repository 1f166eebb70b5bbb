// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/node.h"

#include <string>
#include <string_view>
#include <vector>

namespace qs {

/// A module class as users write it: "torch.nn.modules.conv.Conv2d" becomes "torch.nn.Conv2d";
/// others stay.
std::string publicClassName(std::string_view moduleClass);

/// torch.export's module name for a node without a module.
inline constexpr std::string_view kNoModule = "_empty_nn_module_stack_from_metadata_hook";

/// The levels of a node's `nn_module_stack` text, outermost first: "key,path,class;...". A call
/// suffix ("block@1", on the key or the path) becomes the call index.
std::vector<Scope> parseModuleStack(std::string_view text);

/// True for a file of PyTorch itself, also where the file's paths were made relative to
/// site-packages.
bool isInsideTorch(std::string_view file);

/// The innermost frame of a `stack_trace` text that lies outside PyTorch itself, with the functions
/// that called it (`joinFunctions`); the innermost of all when every frame lies inside.
SourceLocation parseStackTrace(std::string_view text);

} // namespace qs
