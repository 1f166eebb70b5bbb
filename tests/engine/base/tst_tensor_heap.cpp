// SPDX-License-Identifier: Apache-2.0
#include "engine/base/memory/freed_memory.h"
#include "engine/base/memory/tensor_heap.h"

#include <QtTest/QtTest>

#include <ATen/ATen.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

using namespace qs;

namespace {

constexpr std::size_t kHeap = std::size_t(1) << 30;

/// Bytes that the system has given for this range.
std::size_t residentBytes(void* start, std::size_t bytes)
{
    const auto page = std::size_t(sysconf(_SC_PAGESIZE));
    std::vector<unsigned char> pages((bytes + page - 1) / page);
    if (mincore(start, bytes, pages.data()) != 0)
        return 0;
    return page
        * std::size_t(std::count_if(pages.begin(), pages.end(), [](auto p) { return p & 1; }));
}

struct Block
{
    char* memory;
    std::size_t bytes;
    int mark;
};

} // namespace

class TestTensorHeap : public QObject
{
    Q_OBJECT
private Q_SLOTS:
    /// Freed neighbours serve one larger tensor, and nothing new comes from the system for it.
    void neighboursJoin()
    {
        const auto heap = TensorHeap::create(kHeap);
        QVERIFY(heap);
        const std::size_t bytes = 4 * TensorHeap::kChunk;
        void* const first = heap->tryAllocate(bytes);
        void* const second = heap->tryAllocate(bytes);
        void* const third = heap->tryAllocate(bytes);
        QVERIFY(first && second && third);
        heap->release(first);
        heap->release(third);
        heap->release(second);
        QCOMPARE(heap->usage().kept, 3 * bytes);
        QCOMPARE(heap->tryAllocate(3 * bytes), first);
        QCOMPARE(heap->usage().kept, std::size_t(0));
        QVERIFY(heap->owns(first));
        QVERIFY(!heap->owns(&bytes));
    }

    void whatIsTooLargeIsRefused()
    {
        const auto heap = TensorHeap::create(16 * TensorHeap::kChunk);
        QVERIFY(heap);
        QVERIFY(!heap->tryAllocate(17 * TensorHeap::kChunk));
        QVERIFY(!heap->tryAllocate(std::size_t(-1)));
        QVERIFY(heap->tryAllocate(16 * TensorHeap::kChunk));
        QVERIFY(!heap->tryAllocate(1));
    }

    /// Whatever is asked for and freed, blocks keep what was written and the system's share stays
    /// near the most that was in use at once.
    void memoryStaysNearTheMostInUse()
    {
        const auto heap = TensorHeap::create(kHeap);
        QVERIFY(heap);
        void* const start = heap->tryAllocate(1);
        heap->release(start);
        std::mt19937 random(7);
        std::vector<Block> blocks;
        for (int step = 0; step < 4000; ++step) {
            const bool grow = blocks.size() < 4 || (blocks.size() < 12 && random() % 2);
            if (grow) {
                const std::size_t bytes = 1 + random() % (std::size_t(step % 7 + 1) << 19);
                auto* memory = static_cast<char*>(heap->tryAllocate(bytes));
                QVERIFY(memory);
                std::memset(memory, step % 100, bytes);
                blocks.push_back({memory, bytes, step % 100});
            } else {
                const std::size_t at = random() % blocks.size();
                const Block block = blocks[at];
                QCOMPARE(int(block.memory[0]), block.mark);
                QCOMPARE(int(block.memory[block.bytes - 1]), block.mark);
                heap->release(block.memory);
                blocks.erase(blocks.begin() + std::ptrdiff_t(at));
            }
            const auto usage = heap->usage();
            QVERIFY(usage.used + usage.kept <= usage.most + usage.most / 16);
            if (step % 500 == 499)
                QVERIFY(residentBytes(start, kHeap) <= usage.used + usage.kept);
        }
        for (const Block& block : blocks)
            heap->release(block.memory);
        heap->returnFree();
        QCOMPARE(heap->usage().kept, std::size_t(0));
        QCOMPARE(residentBytes(start, kHeap), std::size_t(0));
    }

    /// LibTorch's tensors use it once the program says so.
    void tensorsComeBackToTheSamePlace()
    {
        const at::Tensor before = at::ones({1 << 20});
        keepFreedMemory();
        const void* place = nullptr;
        {
            const at::Tensor freed = at::ones({1 << 20});
            place = freed.const_data_ptr();
            QVERIFY(residentBytes(const_cast<void*>(place), freed.nbytes()) == freed.nbytes());
        }
        QVERIFY(residentBytes(const_cast<void*>(place), 4 << 20) > 0);
        const at::Tensor again = before + 1;
        QCOMPARE(again.const_data_ptr(), place);
        QCOMPARE(again.sum().item<float>(), float(2 << 20));
        at::Tensor grown = at::zeros({1});
        grown.resize_({1 << 21});
        grown.fill_(3);
        QCOMPARE(grown[(1 << 21) - 1].item<float>(), 3.0F);
        grown.reset();
        returnFreedMemory();
    }
};

QTEST_GUILESS_MAIN(TestTensorHeap)
#include "tst_tensor_heap.moc"
