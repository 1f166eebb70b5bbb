// SPDX-License-Identifier: Apache-2.0
#include "engine/calibrate/data/stored_tensor.h"

#include "engine/execute/torch_types.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <new>
#include <sys/mman.h>

namespace qs {

namespace {

/// Chunk size for reading scattered elements together with the bytes between them.
constexpr std::uint64_t kChunkBytes = std::uint64_t(4) << 20;

class Gathering
{
public:
    Gathering(const StoredTensor& stored, std::uint64_t wantedBytes)
        : m_stored(stored)
        , m_itemSize(std::uint64_t(dtypeSize(stored.layout.dtype)))
        , m_most(std::max(kChunkBytes, 2 * wantedBytes))
    {
    }

    // Fills `out` with the part of the storage that `layout` describes. Reads the storage
    // sequentially, so that a deflated entry is inflated once.
    Result<void> fill(const TensorLayout& layout, const at::Tensor& out) const
    {
        if (out.numel() == 0)
            return {};
        const std::uint64_t span
            = layout.reach().value_or(0) - std::uint64_t(layout.offset); // elements
        if (out.is_contiguous() && out.strides() == at::IntArrayRef(layout.strides)
            && span == std::uint64_t(out.numel()))
            return read(layout.offset, span, out.mutable_data_ptr());
        if (span * m_itemSize <= m_most) {
            const at::Tensor buffer = batchTensor({std::int64_t(span)}, out.scalar_type());
            QS_CHECK(read(layout.offset, span, buffer.mutable_data_ptr()));
            out.copy_(buffer.as_strided(layout.sizes, layout.strides));
            return {};
        }
        return fillSlices(layout, out);
    }

private:
    // Fills `out` slice by slice along the dimension with the largest stride.
    Result<void> fillSlices(const TensorLayout& layout, const at::Tensor& out) const
    {
        std::size_t widest = 0;
        for (std::size_t d = 1; d < layout.sizes.size(); ++d)
            if (step(layout, d) > step(layout, widest))
                widest = d;
        TensorLayout slice = layout;
        slice.sizes.erase(slice.sizes.begin() + std::ptrdiff_t(widest));
        slice.strides.erase(slice.strides.begin() + std::ptrdiff_t(widest));
        for (std::int64_t i = 0; i < layout.sizes[widest]; ++i) {
            slice.offset = layout.offset + i * layout.strides[widest];
            QS_CHECK(fill(slice, out.select(std::int64_t(widest), i)));
        }
        return {};
    }

    static std::int64_t step(const TensorLayout& layout, std::size_t d)
    {
        return layout.sizes[d] > 1 ? layout.strides[d] : 0;
    }

    Result<void> read(std::int64_t offset, std::uint64_t elements, void* target) const
    {
        auto done = m_stored.archive->read(m_stored.entry,
                                           m_stored.start + std::uint64_t(offset) * m_itemSize,
                                           elements * m_itemSize, target);
        if (!done)
            return fail(std::move(done).error().inFile(m_stored.archive->path()));
        return {};
    }

    const StoredTensor& m_stored;
    std::uint64_t m_itemSize;
    std::uint64_t m_most;
};

Result<at::Tensor> gather(const StoredTensor& stored, const TensorLayout& layout)
{
    const at::Tensor out = batchTensor(layout.sizes, toScalarType(layout.dtype));
    QS_CHECK(Gathering(stored, out.nbytes()).fill(layout, out));
    return out;
}

} // namespace

at::Tensor batchTensor(at::IntArrayRef sizes, at::ScalarType type)
{
    constexpr std::size_t kSmall = std::size_t(1) << 20;
    std::size_t bytes = c10::elementSize(type);
    for (const std::int64_t size : sizes)
        if (__builtin_mul_overflow(bytes, std::size_t(size), &bytes))
            throw std::bad_alloc();
    if (bytes < kSmall)
        return at::empty(sizes, type);
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        throw std::bad_alloc();
    return at::from_blob(
        memory, sizes, [bytes](void* given) { munmap(given, bytes); }, type);
}

bool fitsEntry(const StoredTensor& stored)
{
    const auto reach = stored.layout.reach();
    const std::uint64_t held = stored.archive->entries()[stored.entry].size;
    const int itemSize = dtypeSize(stored.layout.dtype);
    return reach && itemSize > 0 && stored.start <= held
        && *reach <= (held - stored.start) / std::uint64_t(itemSize);
}

Result<at::Tensor> readRows(const StoredTensor& stored, std::int64_t begin, std::int64_t end)
{
    TensorLayout rows = stored.layout;
    rows.offset += begin * rows.strides.at(0);
    rows.sizes.at(0) = end - begin;
    return gather(stored, rows);
}

Result<at::Tensor> readWhole(const StoredTensor& stored)
{
    return gather(stored, stored.layout);
}

} // namespace qs
