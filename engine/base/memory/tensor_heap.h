// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace qs {

/// Heap of large tensors, separate from small objects: one address range, allocated first-fit in
/// whole chunks; adjacent free chunks are merged. Freed chunks are kept for later tensors as long
/// as used and free chunks together do not exceed the peak use plus a sixteenth; the excess is
/// returned to the system. Thread safe.
///
/// Compared with libraries: full `quantize` runs, peak MiB and processor seconds, two shared cores,
/// medians of three alternating rounds (see tests/bench/README.md).
///                  this heap   mimalloc 2.0.9   giving back at once   LibTorch's own
///   resnet18       449, 28.5      502, 31.5          433, 43.4           597, 28.7
///   mobilenet_v2   432, 22.7      523, 28.3          416, 58.3           658, 30.0
///   linear 4096x4096  308, 4.7    302, 5.1           298, 5.3            326, 4.9
class TensorHeap
{
public:
    static constexpr std::size_t kChunk = std::size_t(64) << 10; ///< bytes

    /// Reserves addresses, not memory, for a heap of at most `bytes`. Null if the system refuses.
    static std::unique_ptr<TensorHeap> create(std::size_t bytes);
    ~TensorHeap();
    TensorHeap(const TensorHeap&) = delete;
    TensorHeap& operator=(const TensorHeap&) = delete;

    /// Null if not enough consecutive chunks are free.
    void* tryAllocate(std::size_t bytes);
    bool owns(const void* memory) const;
    /// Frees `memory`, which `tryAllocate` returned.
    void release(void* memory);
    /// Returns all free chunks to the system and resets the peak use.
    void returnFree();

    /// Call around a fork: no other thread modifies the heap meanwhile, so the child may use it.
    void holdForFork() { m_mutex.lock(); }
    void goOnAfterFork() { m_mutex.unlock(); }

    struct Usage
    {
        std::size_t used = 0, kept = 0, most = 0; ///< bytes
    };
    /// Bytes in use, bytes freed but kept, and peak use since `returnFree`.
    Usage usage() const;

private:
    using Runs = std::map<std::size_t, std::size_t>; ///< first chunk to number of chunks

    TensorHeap(char* start, std::size_t chunks);
    std::size_t takeResident(std::size_t first, std::size_t count);
    void keepWithin(std::size_t chunks);
    void giveBack(std::size_t first, std::size_t count);

    mutable std::mutex m_mutex;
    char* m_start;
    std::size_t m_chunks;
    Runs m_free; ///< never adjacent
    /// Allocated blocks: first chunk to number of chunks.
    std::unordered_map<std::size_t, std::size_t> m_blocks;
    std::vector<bool> m_resident; ///< by chunk: allocated since it was last returned to the system
    std::size_t m_used = 0, m_kept = 0, m_most = 0; ///< chunks
};

} // namespace qs
