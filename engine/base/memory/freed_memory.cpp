// SPDX-License-Identifier: Apache-2.0
#include "engine/base/memory/freed_memory.h"

#include "engine/base/memory/memory_budget.h"
#include "engine/base/memory/tensor_heap.h"

#include <c10/core/CPUAllocator.h>
#include <c10/util/Exception.h>

#include <atomic>
#include <malloc.h>
#include <pthread.h>

namespace qs {

namespace {

/// Reserved addresses, of which a process has 128 TiB; not memory.
constexpr std::size_t kAddresses = std::size_t(1) << 40;

/// Bytes allocated between two checks of the available memory; larger single requests are always
/// checked.
constexpr std::size_t kUnasked = std::size_t(32) << 20;

/// LibTorch's CPU allocator: takes large tensors from TensorHeap. Rejects requests beyond the limit
/// (c10::OutOfMemoryError), so that an error names the node, instead of the process being killed
/// when the memory is touched.
class TensorAllocator : public c10::Allocator
{
public:
    explicit TensorAllocator(TensorHeap& heap)
        : m_heap(heap)
        , m_other(*c10::GetDefaultCPUAllocator())
    {
        installed = this;
    }

    c10::DataPtr allocate(std::size_t bytes) override
    {
        if (bytes >= TensorHeap::kChunk)
            ask(bytes);
        void* memory = bytes >= TensorHeap::kChunk ? m_heap.tryAllocate(bytes) : nullptr;
        if (!memory)
            memory = m_other.raw_allocate(bytes);
        return {memory, memory, &release, at::kCPU};
    }
    c10::DeleterFnPtr raw_deleter() const override { return &release; }
    void copy_data(void* target, const void* source, std::size_t bytes) const override
    {
        default_copy_data(target, source, bytes);
    }

    static void returnFree()
    {
        if (installed)
            installed->m_heap.returnFree();
    }

private:
    void ask(std::size_t bytes)
    {
        if (m_unasked.fetch_add(bytes) + bytes < kUnasked)
            return;
        m_unasked = 0;
        // The heap reuses its free memory first; allocated memory may not be touched yet.
        const TensorHeap::Usage heap = m_heap.usage();
        const std::int64_t own = residentBytes();
        const std::int64_t used = std::max(own - std::int64_t(heap.kept), std::int64_t(heap.used));
        const std::int64_t left = std::max<std::int64_t>(mainMemoryLeft() - used, 0);
        if (bytes > std::size_t(left))
            throw c10::OutOfMemoryError({__func__, __FILE__, std::uint32_t(__LINE__)},
                                        outOfMemory(std::int64_t(bytes), left));
    }

    static void release(void* memory)
    {
        if (installed->m_heap.owns(memory))
            installed->m_heap.release(memory);
        else
            installed->m_other.raw_deallocate(memory);
    }

    static inline TensorAllocator* installed = nullptr;
    TensorHeap& m_heap;
    c10::Allocator& m_other;
    std::atomic<std::size_t> m_unasked {0}; ///< allocated since the last check
};

TensorHeap* heapOfProcess = nullptr;

} // namespace

void keepFreedMemory()
{
#ifdef __GLIBC__
    // NOLINTBEGIN(concurrency-mt-unsafe): no thread runs yet
    mallopt(M_MMAP_MAX, 0); // no mmap for large blocks: use the heap,
    mallopt(M_TRIM_THRESHOLD, -1); // which is never trimmed,
    mallopt(M_ARENA_MAX, 1); // and is shared by all threads: other arenas hold at most 64 MB
    mallopt(M_TOP_PAD, 16 << 20);
    // NOLINTEND(concurrency-mt-unsafe)
#endif
    // Never destroyed: tensors may outlive everything else.
    heapOfProcess = TensorHeap::create(kAddresses).release();
    if (!heapOfProcess)
        return;
    c10::SetCPUAllocator(new TensorAllocator(*heapOfProcess));
    constexpr auto kGoOn = [] { heapOfProcess->goOnAfterFork(); };
    pthread_atfork([] { heapOfProcess->holdForFork(); }, kGoOn, kGoOn);
}

void returnFreedMemory()
{
    TensorAllocator::returnFree();
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

} // namespace qs
