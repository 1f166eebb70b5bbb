// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace qs {

/// Versions that this program was built with.
struct BuildInfo
{
    std::string version; ///< "0.1.0"
    std::string torch; ///< LibTorch's version, "2.11.0"
    std::string cuda; ///< version of the CUDA plug-in's compiler, "13.0.48"; "" without plug-in
    std::string build; ///< "optimized, GCC 12.2.0"
};
BuildInfo buildInfo();

} // namespace qs
