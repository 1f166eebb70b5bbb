// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/base/strong_id.h"

#include <ATen/core/ivalue.h>

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace qs {

/// The one store of weights and constants that every graph made from a model shares. Append-only:
/// an id, once given, always means the same value. Entries may be lazy: the loader runs at first
/// use. Thread safe. Copies on other devices are cached per device until `dropDeviceCopies`.
class TensorStore
{
public:
    using Loader = std::function<Result<at::IValue>()>;

    TensorId add(at::IValue value);
    /// `bytes` is for reports; the loader is called at most once, on the thread that first asks.
    TensorId addLazy(Loader loader, std::uint64_t bytes);
    /// The value on the CPU. Errors: what the loader says (a truncated record names the file).
    Result<at::IValue> get(TensorId id) const;
    Result<at::Tensor> getTensor(TensorId id) const;
    /// The value with its tensors on `device`.
    Result<at::IValue> getOn(TensorId id, const at::Device& device) const;
    void dropDeviceCopies();
    std::uint64_t bytes(TensorId id) const;
    std::size_t size() const;

private:
    struct Entry
    {
        at::IValue value;
        Loader loader;
        bool loaded = false;
        std::uint64_t bytes = 0;
    };
    mutable std::mutex m_mutex;
    mutable std::vector<Entry> m_entries;
    mutable std::map<std::pair<TensorId, std::string>, at::IValue> m_deviceCopies;
};

} // namespace qs
