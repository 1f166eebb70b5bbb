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

/// Addresses, of which a process has 128 TiB; no memory.
constexpr std::size_t kAddresses = std::size_t(1) << 40;

/// Bytes between two looks at what is left; whoever asks for more at once is held to it first.
constexpr std::size_t kUnasked = std::size_t(32) << 20;

/// LibTorch's memory of tensors on the CPU: large ones come from a heap of ours. Memory beyond the
/// limit is refused (c10::OutOfMemoryError) before it is touched, which would end the program: the
/// error names the node that asked.
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
        // The heap hands out its free memory first; handed-out memory may not be touched
        // yet.
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
    std::atomic<std::size_t> m_unasked {0}; ///< handed out since the last look
};

TensorHeap* heapOfProcess = nullptr;

} // namespace

void keepFreedMemory()
{
#ifdef __GLIBC__
    // NOLINTBEGIN(concurrency-mt-unsafe): no thread runs yet
    mallopt(M_MMAP_MAX, 0); // large blocks come from the heap,
    mallopt(M_TRIM_THRESHOLD, -1); // which does not shrink,
    mallopt(M_ARENA_MAX, 1); // and is one for all threads: other heaps hold 64 MB at most
    mallopt(M_TOP_PAD, 16 << 20);
    // NOLINTEND(concurrency-mt-unsafe)
#endif
    // Both live as long as the process: tensors may outlast everything else.
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
