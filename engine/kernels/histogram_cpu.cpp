// SPDX-License-Identifier: Apache-2.0
#include "engine/kernels/histogram.h"
#include "engine/kernels/parallel.h"

#include <atomic>
#include <vector>

namespace qs::kernels {

namespace {

constexpr int kBlock = 1024; // number of values whose bins are computed before counting
constexpr std::int64_t kMaxInTables = std::int64_t(1) << 31; // tables have 32-bit counters
// Number of values that stay in the inner cache between two passes.
constexpr std::int64_t kCachedRun = 8192;

constexpr int kLanes = 32; // independent extremes: several vectors on every target

QS_VECTOR_CLONES void binsOf(const float* data, int count, HistogramEdges edges, std::int32_t bins,
                             std::int32_t* out)
{
    for (int i = 0; i < count; ++i)
        out[i] = histogramBin(data[i], edges, bins);
}

// Extremes by lane; NaN is ignored.
struct Extremes
{
    float min[kLanes];
    float max[kLanes];
    Extremes()
    {
        std::fill(min, min + kLanes, std::numeric_limits<float>::infinity());
        std::fill(max, max + kLanes, -std::numeric_limits<float>::infinity());
    }
};

// `count` is a multiple of kLanes.
QS_VECTOR_CLONES void binsAndExtremes(const float* data, int count, HistogramEdges edges,
                                      std::int32_t bins, std::int32_t* out, Extremes& seen)
{
    Extremes acc = seen;
    for (int at = 0; at < count; at += kLanes)
        for (int i = 0; i < kLanes; ++i) {
            const float x = data[at + i];
            acc.min[i] = x < acc.min[i] ? x : acc.min[i];
            acc.max[i] = x > acc.max[i] ? x : acc.max[i];
            out[at + i] = histogramBin(x, edges, bins);
        }
    seen = acc;
}

// Counts values in four alternating tables, because equal neighbours (the zeros after a ReLU) would
// otherwise wait for each other's store.
class Counter
{
public:
    Counter(HistogramEdges edges, std::int32_t bins, std::int64_t expected)
        : m_edges(edges)
        , m_bins(bins)
        , m_width(std::size_t(bins) + 1)
        , m_tables(m_width * (expected >= 4096 && bins <= 4096 ? 4 : 1), 0)
    {
    }

    void add(const float* data, std::int64_t count)
    {
        std::int32_t index[kBlock];
        for (std::int64_t done = 0; done < count; done += kBlock) {
            const int n = int(std::min<std::int64_t>(kBlock, count - done));
            binsOf(data + done, n, m_edges, m_bins, index);
            tally(index, n);
        }
        m_inTables += count;
    }
    /// The same, and adds the extremes of values inside the edges; returns true if all values are
    /// inside.
    bool observe(const float* data, std::int64_t count, Extremes& seen)
    {
        const std::uint64_t before = outside();
        std::int32_t index[kBlock];
        for (std::int64_t done = 0; done < count; done += kBlock) {
            const int n = int(std::min<std::int64_t>(kBlock, count - done));
            const int whole = n - n % kLanes;
            binsAndExtremes(data + done, whole, m_edges, m_bins, index, seen);
            for (int i = whole; i < n; ++i) {
                const float x = data[done + i];
                seen.min[0] = x < seen.min[0] ? x : seen.min[0];
                seen.max[0] = x > seen.max[0] ? x : seen.max[0];
                index[i] = histogramBin(x, m_edges, m_bins);
            }
            tally(index, n);
        }
        m_inTables += count;
        return outside() == before;
    }
    /// Moves the tables' counts to `counts`.
    void flush(std::uint64_t* counts)
    {
        for (std::size_t table = 0; table < m_tables.size(); table += m_width)
            for (std::int32_t bin = 0; bin < m_bins; ++bin)
                counts[bin] += m_tables[table + std::size_t(bin)];
        std::fill(m_tables.begin(), m_tables.end(), 0);
        m_inTables = 0;
    }
    /// True if the 32-bit tables must be flushed before `count` more values.
    bool nearlyFull(std::int64_t count) const { return m_inTables + count > kMaxInTables; }

private:
    void tally(const std::int32_t* index, int count)
    {
        const std::size_t step = m_tables.size() > m_width ? m_width : 0;
        std::uint32_t* t0 = m_tables.data();
        std::uint32_t* t1 = t0 + step;
        std::uint32_t* t2 = t1 + step;
        std::uint32_t* t3 = t2 + step;
        int i = 0;
        for (; i + 4 <= count; i += 4) {
            ++t0[index[i]];
            ++t1[index[i + 1]];
            ++t2[index[i + 2]];
            ++t3[index[i + 3]];
        }
        for (; i < count; ++i)
            ++t0[index[i]];
    }
    /// Number of counted values that are NaN or outside the edges.
    std::uint64_t outside() const
    {
        std::uint64_t sum = 0;
        for (std::size_t at = std::size_t(m_bins); at < m_tables.size(); at += m_width)
            sum += m_tables[at];
        return sum;
    }

    HistogramEdges m_edges;
    std::int32_t m_bins;
    std::size_t m_width;
    std::vector<std::uint32_t> m_tables;
    std::int64_t m_inTables = 0;
};

// Counts per part: the first part counts directly in the caller's array.
class PartCounts
{
public:
    PartCounts(std::uint64_t* counts, std::int32_t bins, int parts)
        : m_counts(counts)
        , m_bins(bins)
        , m_partial(std::size_t(parts - 1), std::vector<std::uint64_t>(std::size_t(bins), 0))
    {
    }
    std::uint64_t* of(int part)
    {
        return part == 0 ? m_counts : m_partial[std::size_t(part - 1)].data();
    }
    void merge()
    {
        for (const auto& one : m_partial)
            for (std::int32_t bin = 0; bin < m_bins; ++bin)
                m_counts[bin] += one[std::size_t(bin)];
    }

private:
    std::uint64_t* m_counts;
    std::int32_t m_bins;
    std::vector<std::vector<std::uint64_t>> m_partial;
};

} // namespace

void histogramCpu(const float* data, std::int64_t count, HistogramEdges edges, std::int32_t bins,
                  std::uint64_t* counts, int threads)
{
    const int parts = partCount(count, threads);
    PartCounts partial(counts, bins, parts);
    forEachPart(count, parts, [&](int part, std::int64_t begin, std::int64_t end) {
        Counter counter(edges, bins, end - begin);
        for (std::int64_t at = begin; at < end; at += kMaxInTables) {
            counter.add(data + at, std::min(kMaxInTables, end - at));
            counter.flush(partial.of(part));
        }
    });
    partial.merge();
}

MinMax observeCpu(const float* data, std::int64_t count, HistogramTarget target, int threads,
                  bool* counted)
{
    const int parts = partCount(count, threads);
    PartCounts partial(target.counts, target.bins, parts);
    std::vector<MinMax> found(std::size_t(parts), MinMax {});
    std::atomic<bool> inside {true};
    forEachPart(count, parts, [&](int part, std::int64_t begin, std::int64_t end) {
        Counter counter(target.edges, target.bins, end - begin);
        MinMax mine;
        Extremes seen;
        for (std::int64_t at = begin; at < end; at += kCachedRun) {
            const std::int64_t n = std::min(kCachedRun, end - at);
            if (counter.nearlyFull(n))
                counter.flush(partial.of(part));
            Extremes now = seen;
            if (inside.load(std::memory_order_relaxed) && counter.observe(data + at, n, now)) {
                seen = now;
                continue;
            }
            inside.store(false, std::memory_order_relaxed);
            merge(mine, minMaxCpu(data + at, n, 1));
        }
        for (int i = 0; i < kLanes; ++i)
            merge(mine, {seen.min[i], seen.max[i], 0});
        counter.flush(partial.of(part));
        found[std::size_t(part)] = mine;
    });
    partial.merge();
    MinMax out;
    for (const auto& one : found)
        merge(out, one);
    *counted = inside.load();
    return out;
}

} // namespace qs::kernels
