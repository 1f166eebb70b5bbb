// SPDX-License-Identifier: Apache-2.0
#include "engine/execute/tensor_store.h"

#include "engine/base/torch_guard.h"
#include "engine/graph/given_observations.h"
#include "engine/graph/graph_edit.h"

#include <ATen/core/Tensor.h>

namespace qs {

namespace {

std::uint64_t valueBytes(const at::IValue& value)
{
    return value.isTensor() && value.toTensor().defined() ? value.toTensor().nbytes() : 0;
}

} // namespace

std::shared_ptr<TensorStore> TensorStore::over(std::shared_ptr<const TensorStore> below)
{
    if (!below)
        return nullptr;
    std::shared_ptr<TensorStore> store;
    if (const auto* held = dynamic_cast<const HoldsGivenObservations*>(below.get())) {
        auto holder = std::make_shared<WithGivenObservations<TensorStore>>();
        holder->given = held->given;
        store = std::move(holder);
    } else {
        store = std::make_shared<TensorStore>();
    }
    store->m_base = below->size();
    store->m_below = std::move(below);
    return store;
}

TensorId TensorStore::append(Entry entry)
{
    std::lock_guard lock(m_mutex);
    m_entries.push_back(std::move(entry));
    return TensorId(std::uint32_t(m_base + m_entries.size()));
}

TensorId TensorStore::add(at::IValue value)
{
    const std::uint64_t bytes = valueBytes(value);
    Entry entry;
    entry.value = std::move(value);
    entry.loaded = true;
    entry.bytes = bytes;
    return append(std::move(entry));
}

TensorId TensorStore::addLazy(Loader loader, std::uint64_t bytes)
{
    Entry entry;
    entry.loader = std::move(loader);
    entry.bytes = bytes;
    return append(std::move(entry));
}

TensorId TensorStore::addDerived(Loader maker, std::uint64_t bytes)
{
    Entry entry;
    entry.loader = std::move(maker);
    entry.derived = true;
    entry.bytes = bytes;
    return append(std::move(entry));
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

const TensorStore& TensorStore::holder(TensorId id, std::size_t& index) const
{
    const TensorStore* store = this;
    while (store->m_below && id.value() <= store->m_base)
        store = store->m_below.get();
    index = std::size_t(id.value()) - store->m_base - 1;
    return *store;
}

Result<at::IValue> TensorStore::get(TensorId id) const
{
    if (!id || id.value() > size())
        return fail(ErrorCode::Internal, "no tensor with key " + std::to_string(id.value()));
    std::size_t index = 0;
    const TensorStore& store = holder(id, index);
    // Holds the lock while loading, so that two readers of a weight do not both load it.
    std::lock_guard lock(store.m_mutex);
    Entry& entry = store.m_entries[index];
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
    std::size_t index = 0;
    const TensorStore& store = holder(id, index);
    const auto key = std::make_pair(id, device.str());
    {
        std::lock_guard lock(store.m_mutex);
        if (const auto it = store.m_deviceCopies.find(key); it != store.m_deviceCopies.end())
            return it->second;
    }
    auto copy = guardTorchValue<at::IValue>(
        [&]() -> Result<at::IValue> { return at::IValue(value.toTensor().to(device)); });
    if (!copy)
        return copy;
    std::lock_guard lock(store.m_mutex);
    return store.m_deviceCopies.try_emplace(key, std::move(*copy)).first->second;
}

std::uint64_t TensorStore::bytes(TensorId id) const
{
    if (!id || id.value() > size())
        return 0;
    std::size_t index = 0;
    const TensorStore& store = holder(id, index);
    std::lock_guard lock(store.m_mutex);
    return store.m_entries[index].bytes;
}

std::uint64_t TensorStore::ownBytes() const
{
    std::lock_guard lock(m_mutex);
    std::uint64_t bytes = 0;
    for (const Entry& entry : m_entries)
        bytes += entry.derived ? 0 : entry.bytes;
    return bytes;
}

std::size_t TensorStore::size() const
{
    std::lock_guard lock(m_mutex);
    return m_base + m_entries.size();
}

std::shared_ptr<TensorStore> tensorsOf(const Graph& graph)
{
    return std::dynamic_pointer_cast<TensorStore>(graph.tensors());
}

std::shared_ptr<TensorStore> tensorsOf(const GraphEdit& edit)
{
    return std::dynamic_pointer_cast<TensorStore>(edit.tensors());
}

} // namespace qs
