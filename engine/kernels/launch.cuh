// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace qs::kernels {

/// Threads of a block, for every kernel here.
inline constexpr int kBlockSize = 256;
/// Blocks that fill any card without making partial results many; the kernels stride over the rest.
inline constexpr int kMaxBlocks = 1024;

inline int blockCount(std::int64_t count)
{
    const std::int64_t wanted = (count + kBlockSize - 1) / kBlockSize;
    return int(wanted < 1 ? 1 : wanted > kMaxBlocks ? kMaxBlocks : wanted);
}

inline cudaStream_t asStream(void* stream)
{
    return static_cast<cudaStream_t>(stream);
}

} // namespace qs::kernels
