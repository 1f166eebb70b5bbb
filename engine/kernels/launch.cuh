// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace qs::kernels {

/// Threads per block, for all kernels.
inline constexpr int kBlockSize = 256;
/// Maximum number of blocks: enough for any GPU, with few partial results; kernels loop over the
/// rest with a grid stride.
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
