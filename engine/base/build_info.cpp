// SPDX-License-Identifier: Apache-2.0
#include "engine/base/build_info.h"

namespace qs {

BuildInfo buildInfo()
{
    BuildInfo info {QUANTSCOPE_VERSION, QUANTSCOPE_TORCH_VERSION, QUANTSCOPE_CUDA_VERSION, {}};
#ifdef __OPTIMIZE__
    info.build = "optimized";
#else
    info.build = "not optimized";
#endif
#if defined(__clang__)
    info.build += ", Clang " __clang_version__;
#else
    info.build += ", GCC " __VERSION__;
#endif
    return info;
}

} // namespace qs
