// SPDX-License-Identifier: Apache-2.0
// bench_relay [OBSERVERS [BATCHES_PER_RANK [MOST_RANKS]]]: what a relay and the trees cost for 2 to
// 1,024 ranks, which are threads of this process, with states as large as those of histogram
// observers. The sums are in float, so that they depend on the order; they must equal those of one
// process to the bit.
#include "engine/distribute/collectives.h"
#include "engine/distribute/packed.h"
#include "engine/distribute/relay.h"
#include "tests/support/thread_group.h"

#include <atomic>
#include <bit>
#include <chrono>
#include <cstdio>
#include <cstdlib>

using namespace qs;

namespace {

constexpr std::size_t kBins = 2048;

float count(std::int64_t batch, std::int64_t slot, std::size_t bin)
{
    return float((batch * 7919 + slot * 104'729 + std::int64_t(bin) * 31) % 1'000'003) / 16.0f;
}

void addBatch(std::vector<float>& counts, std::int64_t batch, std::int64_t slot)
{
    for (std::size_t bin = 0; bin < counts.size(); ++bin)
        counts[bin] += count(batch, slot, bin);
}

/// The counts of all slots after the last batch.
using Counts = std::vector<std::vector<float>>;

Counts relayed(Group& group, std::int64_t slots, std::int64_t batches)
{
    Counts counts(static_cast<std::size_t>(slots), std::vector<float>(kBins));
    Relay relay(group, "states", 0, batches);
    for (std::int64_t batch = relay.firstOwn(); batch < batches; batch += relay.stride()) {
        relay.begin(batch);
        for (std::int64_t slot = 0; slot < slots; ++slot) {
            std::vector<float>& mine = counts[std::size_t(slot)];
            if (const auto before = relay.take(Relay::Slot(slot), {}).value())
                Unpacker(*before).get(mine);
            addBatch(mine, batch, slot);
            (void)relay.pass(Relay::Slot(slot), Packer().add(mine).take());
        }
        (void)relay.end();
    }
    const Relay::States last = relay.finish(nullptr, {}).value();
    for (const auto& [slot, state] : last)
        Unpacker(state).get(counts[slot]);
    return counts;
}

Counts inOneProcess(std::int64_t slots, std::int64_t batches)
{
    Counts counts(static_cast<std::size_t>(slots), std::vector<float>(kBins));
    for (std::int64_t batch = 0; batch < batches; ++batch)
        for (std::int64_t slot = 0; slot < slots; ++slot)
            addBatch(counts[std::size_t(slot)], batch, slot);
    return counts;
}

double secondsSince(std::chrono::steady_clock::time_point start)
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

} // namespace

int main(int argc, char** argv)
{
    const std::int64_t slots = argc > 1 ? std::atoll(argv[1]) : 50;
    const std::int64_t each = argc > 2 ? std::atoll(argv[2]) : 2;
    const int most = argc > 3 ? std::atoi(argv[3]) : 1024;
    std::printf("%lld states of %zu counts, %lld batches a rank\n", static_cast<long long>(slots),
                kBins, static_cast<long long>(each));
    std::printf("ranks  equal  hop ms  rank 0: MB a batch  tree: depth  MB of rank 0  seconds\n");
    for (int size = 2; size <= most; size *= 2) {
        const std::int64_t batches = each * size;
        const Counts expected = inOneProcess(slots, batches);
        MessageBoard board(size), trees(size);
        std::atomic<int> different = 0;
        auto start = std::chrono::steady_clock::now();
        runRanks(board, size, [&](Group& group) {
            different += relayed(group, slots, batches) != expected ? 1 : 0;
        });
        const double relay = secondsSince(start);
        start = std::chrono::steady_clock::now();
        runRanks(trees, size, [&](Group& group) {
            const auto all = gather(group, "notes", std::string(1000, 'x'), {});
            different += group.isFirst() && all->size() != std::size_t(size) ? 1 : 0;
        });
        const double tree = secondsSince(start);
        std::printf("%5d  %5s  %6.2f  %18.2f  %11d  %12.3f  %7.3f\n", size,
                    different == 0 ? "yes" : "NO", 1000 * relay / double(batches),
                    double(board.bytes(0)) / 1e6 / double(each), trees.messages(0),
                    double(trees.bytes(0)) / 1e6, tree);
        if (different > 0)
            return 1;
    }
    return 0;
}
