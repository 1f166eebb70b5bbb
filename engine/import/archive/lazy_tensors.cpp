// SPDX-License-Identifier: Apache-2.0
#include "engine/import/archive/lazy_tensors.h"

#include "engine/base/torch_guard.h"
#include "engine/execute/torch_types.h"
#include "engine/import/held_tensors.h"

#include <ATen/ops/empty.h>

#include <map>
#include <mutex>

namespace qs {

/// Storages already read, as weak references: users keep them alive.
struct LazyTensors::Records
{
    std::mutex mutex;
    std::map<std::string, c10::weak_intrusive_ptr<c10::StorageImpl>> storages;

    Result<c10::Storage> read(const Pt2Archive& archive, const std::string& record)
    {
        std::lock_guard lock(mutex);
        if (const auto it = storages.find(record); it != storages.end())
            if (auto alive = it->second.lock())
                return c10::Storage(std::move(alive));
        const std::uint64_t held = archive.size(record);
        const at::Tensor bytes = at::empty({std::int64_t(held)}, at::kByte);
        if (held > 0)
            QS_CHECK(archive.readInto(record, bytes.mutable_data_ptr(), held));
        const c10::Storage& storage = bytes.storage();
        storages.insert_or_assign(record,
                                  c10::weak_intrusive_ptr<c10::StorageImpl>(
                                      c10::intrusive_ptr<c10::StorageImpl>::reclaim_copy(
                                          storage.unsafeGetStorageImpl())));
        return storage;
    }
};

std::optional<std::uint64_t> TensorLayout::reach() const
{
    if (offset < 0 || sizes.size() != strides.size())
        return std::nullopt;
    std::uint64_t last = std::uint64_t(offset);
    bool empty = false;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
        if (sizes[i] < 0 || strides[i] < 0)
            return std::nullopt;
        empty = empty || sizes[i] == 0;
        std::uint64_t step = 0;
        if (!empty
            && (__builtin_mul_overflow(std::uint64_t(sizes[i] - 1), std::uint64_t(strides[i]),
                                       &step)
                || __builtin_add_overflow(last, step, &last)))
            return std::nullopt;
    }
    return empty ? 0 : last + 1;
}

TensorLayout layoutOf(const at::Tensor& tensor, std::string record)
{
    return {std::move(record),       fromScalarType(tensor.scalar_type()),
            tensor.sizes().vec(),    tensor.strides().vec(),
            tensor.storage_offset(), tensor.requires_grad()};
}

LazyTensors::LazyTensors(std::shared_ptr<const Pt2Archive> archive)
    : m_archive(std::move(archive))
    , m_records(std::make_shared<Records>())
{
}

Result<TensorId> LazyTensors::add(TensorStore& store, const TensorLayout& layout) const
{
    const int itemSize = dtypeSize(layout.dtype);
    const auto elements = layout.reach();
    const std::uint64_t held = m_archive->size(layout.record);
    if (itemSize == 0)
        return fail(ErrorCode::BadInput, "has an element type this program cannot read");
    if (!elements || *elements > held / std::uint64_t(itemSize))
        return fail(ErrorCode::BadInput,
                    "does not fit its record (" + std::to_string(held) + " bytes)");
    auto load = [archive = m_archive, records = m_records, layout]() -> Result<at::IValue> {
        return guardTorchValue<at::IValue>([&]() -> Result<at::IValue> {
            QS_TRY(const c10::Storage storage, records->read(*archive, layout.record));
            at::Tensor tensor = at::empty({0}, toScalarType(layout.dtype));
            tensor.set_(storage, layout.offset, layout.sizes, layout.strides);
            if (layout.requiresGrad && isFloating(layout.dtype))
                tensor.set_requires_grad(true);
            return at::IValue(tensor);
        });
    };
    const std::uint64_t bytes = *elements * std::uint64_t(itemSize);
    return bytes > kHeldByUsers ? store.addDerived(std::move(load), bytes)
                                : store.addLazy(std::move(load), bytes);
}

} // namespace qs
