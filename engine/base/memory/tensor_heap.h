// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace qs {

/// Memory of large tensors, separate from all small objects: a separate address range, handed
/// out in whole chunks, the lowest that fit first, neighbours joined again when they are freed.
/// Freed chunks stay with the process for the next tensors, as long as used and free together
/// are not more than the peak in use plus a sixteenth; beyond it they go back to the system.
/// Thread safe.
///
/// Why no library: whole `quantize`, peak MiB and processor seconds, two shared cores, medians of
/// three rounds in turn (tests/bench/README.md has more).
///                  this heap   mimalloc 2.0.9   giving back at once   LibTorch's own
///   resnet18       449, 28.5      502, 31.5          433, 43.4           597, 28.7
///   mobilenet_v2   432, 22.7      523, 28.3          416, 58.3           658, 30.0
///   linear 4096x4096  308, 4.7    302, 5.1           298, 5.3            326, 4.9
class TensorHeap
{
public:
    static constexpr std::size_t kChunk = std::size_t(64) << 10; ///< bytes

    /// Reserves addresses, not memory, for a heap of at most `bytes`. Null if the system refuses
    /// them.
    static std::unique_ptr<TensorHeap> create(std::size_t bytes);
    ~TensorHeap();
    TensorHeap(const TensorHeap&) = delete;
    TensorHeap& operator=(const TensorHeap&) = delete;

    /// Null if not enough consecutive chunks are free.
    void* tryAllocate(std::size_t bytes);
    bool owns(const void* memory) const;
    /// `memory` must be what `tryAllocate` gave.
    void release(void* memory);
    /// Gives the system all that is free, and forgets how much was in use.
    void returnFree();

    /// Around a fork: no other thread is amidst a change while the copy is made, which may go on
    /// using the heap.
    void holdForFork() { m_mutex.lock(); }
    void goOnAfterFork() { m_mutex.unlock(); }

    struct Usage
    {
        std::size_t used = 0, kept = 0, most = 0; ///< bytes
    };
    /// In use, freed and kept, and the most that was in use since `returnFree`.
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
    Runs m_free; ///< never two next to each other
    std::unordered_map<std::size_t, std::size_t> m_blocks; ///< in use: first chunk to number
    std::vector<bool> m_resident; ///< by chunk: handed out since the system last had it
    std::size_t m_used = 0, m_kept = 0, m_most = 0; ///< chunks
};

} // namespace qs
