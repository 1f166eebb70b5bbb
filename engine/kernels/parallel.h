// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <thread>
#include <vector>

namespace qs::kernels {

/// Below this many elements a thread costs more than it saves.
inline constexpr std::int64_t kParallelGrain = 1 << 16;

/// How many parts to cut `count` elements into when `threads` may work.
inline int partCount(std::int64_t count, int threads)
{
    const std::int64_t useful = (count + kParallelGrain - 1) / kParallelGrain;
    return int(std::max<std::int64_t>(1, std::min<std::int64_t>(threads, useful)));
}

/// Calls `body(part, begin, end)` for `parts` equal consecutive ranges of [0, count), each on its
/// own thread, the first on the caller's. The body must not throw.
template<class Body>
void forEachPart(std::int64_t count, int parts, const Body& body)
{
    const std::int64_t length = (count + parts - 1) / parts;
    const auto run = [&](int part) {
        const std::int64_t begin = std::min(count, part * length);
        body(part, begin, std::min(count, begin + length));
    };
    std::vector<std::thread> workers;
    workers.reserve(std::size_t(parts - 1));
    for (int part = 1; part < parts; ++part)
        workers.emplace_back(run, part);
    run(0);
    for (auto& worker : workers)
        worker.join();
}

} // namespace qs::kernels
