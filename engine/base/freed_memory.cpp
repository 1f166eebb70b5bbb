// SPDX-License-Identifier: Apache-2.0
#include "engine/base/freed_memory.h"

#include "engine/base/tensor_heap.h"

#include <c10/core/CPUAllocator.h>

#include <malloc.h>

namespace qs {

namespace {

/// Addresses, of which a process has 128 TiB; no memory.
constexpr std::size_t kAddresses = std::size_t(1) << 40;

/// LibTorch's memory of tensors on the CPU: large ones come from a heap of ours.
class TensorAllocator : public c10::Allocator
{
public:
    explicit TensorAllocator(TensorHeap& heap)
        : m_heap(heap)
        , m_other(*c10::GetDefaultCPUAllocator())
    {
        s_installed = this;
    }

    c10::DataPtr allocate(std::size_t bytes) override
    {
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
        if (s_installed)
            s_installed->m_heap.returnFree();
    }

private:
    static void release(void* memory)
    {
        if (s_installed->m_heap.owns(memory))
            s_installed->m_heap.release(memory);
        else
            s_installed->m_other.raw_deallocate(memory);
    }

    static inline TensorAllocator* s_installed = nullptr;
    TensorHeap& m_heap;
    c10::Allocator& m_other;
};

} // namespace

void keepFreedMemory()
{
#ifdef __GLIBC__
    mallopt(M_MMAP_MAX, 0); // large blocks come from the heap,
    mallopt(M_TRIM_THRESHOLD, -1); // which does not shrink,
    mallopt(M_ARENA_MAX, 1); // and is one for all threads: other heaps hold 64 MB at most
    mallopt(M_TOP_PAD, 16 << 20);
#endif
    // Both live as long as the process: tensors may outlast everything else.
    static TensorHeap* const heap = TensorHeap::create(kAddresses).release();
    if (heap)
        c10::SetCPUAllocator(new TensorAllocator(*heap));
}

void returnFreedMemory()
{
    TensorAllocator::returnFree();
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

} // namespace qs
