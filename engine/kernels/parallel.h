// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

namespace qs::kernels {

/// Below this number of elements another thread costs more than it saves.
inline constexpr std::int64_t kParallelGrain = 1 << 16;

/// Returns the number of parts of `count` elements for at most `threads` threads.
inline int partCount(std::int64_t count, int threads)
{
    const std::int64_t useful = (count + kParallelGrain - 1) / kParallelGrain;
    return int(std::max<std::int64_t>(1, std::min<std::int64_t>(threads, useful)));
}

/// Calls `body(part, begin, end)` for `parts` equal consecutive ranges of [0, count), each on a
/// thread of OpenMP's team, which LibTorch's operators also use. The body must not throw.
template<class Body>
void forEachPart(std::int64_t count, int parts, const Body& body)
{
    const std::int64_t length = (count + parts - 1) / parts;
    const auto run = [&](int part) {
        const std::int64_t begin = std::min(count, part * length);
        body(part, begin, std::min(count, begin + length));
    };
#pragma omp parallel for num_threads(parts) schedule(static, 1)
    for (int part = 0; part < parts; ++part)
        run(part);
}

} // namespace qs::kernels
