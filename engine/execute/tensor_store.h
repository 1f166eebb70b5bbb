// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/graph/graph.h"

#include <ATen/core/ivalue.h>

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace qs {

class GraphEdit;

/// Weights and constants of a graph. Append-only: an id always refers to the same value. Lazy
/// entries are loaded at first use; derived entries are computed again if no owner is left. Also
/// keeps copies on other devices. Thread safe. A stage adds its values to a store over its source's
/// store (`over`): ids of the store below stay valid, and the new values are freed with the last
/// graph that uses the upper store.
class TensorStore : public StoredTensors
{
public:
    using Loader = std::function<Result<at::IValue>()>;

    /// A new store over the current entries of `below`. Null if `below` is null (a graph without
    /// weights).
    static std::shared_ptr<TensorStore> over(std::shared_ptr<const TensorStore> below);

    TensorId add(at::IValue value);
    /// `bytes` is for reports; the loader is called at most once, on the thread that first asks.
    TensorId addLazy(Loader loader, std::uint64_t bytes);
    /// Adds a tensor that `maker` can compute again: it is kept only while it has other owners.
    TensorId addDerived(Loader maker, std::uint64_t bytes);
    /// The value on the CPU. Errors: those of the loader (a truncated record names the file).
    Result<at::IValue> get(TensorId id) const;
    Result<at::Tensor> getTensor(TensorId id) const;
    /// The value with its tensors on `device`.
    Result<at::IValue> getOn(TensorId id, const at::Device& device) const;
    std::uint64_t bytes(TensorId id) const override;
    /// Bytes of the entries that this store owns, without those of the store below and derived
    /// ones, which are computed again when needed.
    std::uint64_t ownBytes() const;
    std::size_t size() const;

private:
    using WeakTensor = c10::weak_intrusive_ptr<c10::TensorImpl, c10::UndefinedTensorImpl>;
    struct Entry
    {
        at::IValue value;
        Loader loader;
        bool loaded = false;
        bool derived = false;
        std::uint64_t bytes = 0;
        std::optional<WeakTensor> made; ///< of a derived one
    };
    static Result<at::IValue> derive(Entry& entry);
    /// The store that holds the id: this one or one below; `index` within its own entries.
    const TensorStore& holder(TensorId id, std::size_t& index) const;
    TensorId append(Entry entry);

    std::shared_ptr<const TensorStore> m_below;
    std::size_t m_base = 0; ///< ids up to here are those of the store below
    mutable std::mutex m_mutex;
    mutable std::vector<Entry> m_entries;
    mutable std::map<std::pair<TensorId, std::string>, at::IValue> m_deviceCopies;
};

/// The tensor store of a graph or a draft; null if it has none.
std::shared_ptr<TensorStore> tensorsOf(const Graph& graph);
std::shared_ptr<TensorStore> tensorsOf(const GraphEdit& edit);

} // namespace qs
