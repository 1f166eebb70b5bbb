// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace qs {

/// Versions that this program was built with.
struct BuildInfo
{
    std::string version; ///< "0.1.0"
    std::string torch; ///< of LibTorch, "2.11.0"
    std::string cuda; ///< of the compiler of the CUDA plug-in, "13.0.48"; "" without one
    std::string build; ///< "optimized, GCC 12.2.0"
};
BuildInfo buildInfo();

} // namespace qs
