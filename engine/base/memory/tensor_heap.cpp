// SPDX-License-Identifier: Apache-2.0
#include "engine/base/memory/tensor_heap.h"

#include <algorithm>
#include <iterator>
#include <sys/mman.h>

namespace qs {

namespace {

/// One over the fraction of the peak use that may be kept free. Without it, a slightly fragmented
/// heap would return memory that it needs again immediately.
constexpr std::size_t kSlack = 16;

} // namespace

std::unique_ptr<TensorHeap> TensorHeap::create(std::size_t bytes)
{
    const std::size_t chunks = bytes / kChunk;
    void* start = mmap(nullptr, chunks * kChunk, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (start == MAP_FAILED)
        return nullptr;
    return std::unique_ptr<TensorHeap>(new TensorHeap(static_cast<char*>(start), chunks));
}

TensorHeap::TensorHeap(char* start, std::size_t chunks)
    : m_start(start)
    , m_chunks(chunks)
    , m_free {{0, chunks}}
{
}

TensorHeap::~TensorHeap()
{
    munmap(m_start, m_chunks * kChunk);
}

void* TensorHeap::tryAllocate(std::size_t bytes)
{
    const std::size_t wanted = std::max<std::size_t>((bytes + kChunk - 1) / kChunk, 1);
    const std::lock_guard lock(m_mutex);
    const auto fit = std::find_if(m_free.begin(), m_free.end(),
                                  [&](const auto& run) { return run.second >= wanted; });
    if (bytes > m_chunks * kChunk || fit == m_free.end())
        return nullptr;
    const auto [first, length] = *fit;
    m_free.erase(fit);
    if (length > wanted)
        m_free.emplace(first + wanted, length - wanted);
    m_blocks.emplace(first, wanted);
    m_used += wanted;
    m_kept -= takeResident(first, wanted);
    m_most = std::max(m_most, m_used);
    keepWithin(m_most + m_most / kSlack);
    return m_start + first * kChunk;
}

bool TensorHeap::owns(const void* memory) const
{
    const auto* byte = static_cast<const char*>(memory);
    return byte >= m_start && byte < m_start + m_chunks * kChunk;
}

void TensorHeap::release(void* memory)
{
    const std::lock_guard lock(m_mutex);
    const auto block = m_blocks.find(std::size_t(static_cast<char*>(memory) - m_start) / kChunk);
    auto [first, count] = *block;
    m_blocks.erase(block);
    m_used -= count;
    m_kept += count;
    auto next = m_free.lower_bound(first);
    if (next != m_free.end() && next->first == first + count) {
        count += next->second;
        next = m_free.erase(next);
    }
    if (next != m_free.begin())
        if (const auto before = std::prev(next); before->first + before->second == first) {
            before->second += count;
            return;
        }
    m_free.emplace_hint(next, first, count);
}

void TensorHeap::returnFree()
{
    const std::lock_guard lock(m_mutex);
    m_most = m_used;
    keepWithin(m_used);
}

TensorHeap::Usage TensorHeap::usage() const
{
    const std::lock_guard lock(m_mutex);
    return {m_used * kChunk, m_kept * kChunk, m_most * kChunk};
}

// Returns the number of these chunks that are resident, and marks all as resident.
std::size_t TensorHeap::takeResident(std::size_t first, std::size_t count)
{
    if (m_resident.size() < first + count)
        m_resident.resize(first + count);
    const auto begin = m_resident.begin() + std::ptrdiff_t(first);
    const auto end = begin + std::ptrdiff_t(count);
    const auto there = std::count(begin, end, true);
    std::fill(begin, end, true);
    return std::size_t(there);
}

// Returns free chunks to the system until at most `chunks` remain in total, highest addresses
// first, since these are allocated last.
void TensorHeap::keepWithin(std::size_t chunks)
{
    for (auto run = m_free.rbegin(); run != m_free.rend() && m_used + m_kept > chunks; ++run) {
        const std::size_t first = run->first;
        std::size_t end = std::min(first + run->second, m_resident.size());
        while (end > first && m_used + m_kept > chunks) {
            while (end > first && !m_resident[end - 1])
                --end;
            std::size_t begin = end;
            while (begin > first && m_resident[begin - 1]
                   && m_used + m_kept - (end - begin) > chunks)
                --begin;
            giveBack(begin, end - begin);
            end = begin;
        }
    }
}

void TensorHeap::giveBack(std::size_t first, std::size_t count)
{
    if (count == 0 || madvise(m_start + first * kChunk, count * kChunk, MADV_DONTNEED) != 0)
        return;
    std::fill_n(m_resident.begin() + std::ptrdiff_t(first), count, false);
    m_kept -= count;
}

} // namespace qs
