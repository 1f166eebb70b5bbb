// SPDX-License-Identifier: Apache-2.0
#include "engine/execute/tensor_store.h"

#include "engine/base/torch_guard.h"

#include <ATen/core/Tensor.h>

namespace qs {

namespace {

std::uint64_t valueBytes(const at::IValue& value)
{
    return value.isTensor() && value.toTensor().defined() ? value.toTensor().nbytes() : 0;
}

} // namespace

TensorId TensorStore::add(at::IValue value)
{
    std::lock_guard lock(m_mutex);
    Entry entry;
    entry.bytes = valueBytes(value);
    entry.value = std::move(value);
    entry.loaded = true;
    m_entries.push_back(std::move(entry));
    return TensorId(std::uint32_t(m_entries.size()));
}

TensorId TensorStore::addLazy(Loader loader, std::uint64_t bytes)
{
    std::lock_guard lock(m_mutex);
    Entry entry;
    entry.loader = std::move(loader);
    entry.bytes = bytes;
    m_entries.push_back(std::move(entry));
    return TensorId(std::uint32_t(m_entries.size()));
}

TensorId TensorStore::addDerived(Loader maker, std::uint64_t bytes)
{
    const TensorId id = addLazy(std::move(maker), bytes);
    std::lock_guard lock(m_mutex);
    m_entries[id.value() - 1].derived = true;
    return id;
}

Result<at::IValue> TensorStore::derive(Entry& entry)
{
    if (entry.made)
        if (auto alive = entry.made->lock())
            return at::IValue(at::Tensor(std::move(alive)));
    QS_TRY(at::IValue value, entry.loader());
    entry.made = WeakTensor(value.toTensor().getIntrusivePtr());
    return value;
}

Result<at::IValue> TensorStore::get(TensorId id) const
{
    // The lock is held while loading: two readers of one weight must not both read it.
    std::lock_guard lock(m_mutex);
    if (!id || id.value() > m_entries.size())
        return fail(ErrorCode::Internal, "no tensor with key " + std::to_string(id.value()));
    Entry& entry = m_entries[id.value() - 1];
    if (entry.derived)
        return derive(entry);
    if (!entry.loaded) {
        QS_TRY(entry.value, entry.loader());
        entry.loader = {};
        entry.loaded = true;
    }
    return entry.value;
}

Result<at::Tensor> TensorStore::getTensor(TensorId id) const
{
    QS_TRY(const at::IValue value, get(id));
    if (!value.isTensor())
        return fail(ErrorCode::Internal,
                    "the value with key " + std::to_string(id.value()) + " is not a tensor");
    return value.toTensor();
}

Result<at::IValue> TensorStore::getOn(TensorId id, const at::Device& device) const
{
    QS_TRY(at::IValue value, get(id));
    if (!value.isTensor() || value.toTensor().device() == device)
        return value;
    const auto key = std::make_pair(id, device.str());
    {
        std::lock_guard lock(m_mutex);
        if (const auto it = m_deviceCopies.find(key); it != m_deviceCopies.end())
            return it->second;
    }
    auto copy = guardTorchValue<at::IValue>(
        [&]() -> Result<at::IValue> { return at::IValue(value.toTensor().to(device)); });
    if (!copy)
        return copy;
    std::lock_guard lock(m_mutex);
    return m_deviceCopies.try_emplace(key, std::move(*copy)).first->second;
}

void TensorStore::dropDeviceCopies()
{
    std::lock_guard lock(m_mutex);
    m_deviceCopies.clear();
}

std::uint64_t TensorStore::bytes(TensorId id) const
{
    std::lock_guard lock(m_mutex);
    return id && id.value() <= m_entries.size() ? m_entries[id.value() - 1].bytes : 0;
}

std::size_t TensorStore::size() const
{
    std::lock_guard lock(m_mutex);
    return m_entries.size();
}

} // namespace qs
