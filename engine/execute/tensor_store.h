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

/// Weights and constants of a graph. Append-only: an id, once given, always means the same value.
/// Entries may be lazy: the loader runs at first use. Derived ones are made again if no owner is
/// left. Thread safe. Copies on other devices are kept beside the values. A stage adds its values
/// to a store over its source's: all ids of the store below keep their meaning, and the new values
/// are freed with the last graph made there.
class TensorStore : public StoredTensors
{
public:
    using Loader = std::function<Result<at::IValue>()>;

    /// A store over `below` as it is now. Null over null: a graph without weights stays one.
    static std::shared_ptr<TensorStore> over(std::shared_ptr<const TensorStore> below);

    TensorId add(at::IValue value);
    /// `bytes` is for reports; the loader is called at most once, on the thread that first asks.
    TensorId addLazy(Loader loader, std::uint64_t bytes);
    /// A tensor that can be made again: it is kept only while it has other owners.
    TensorId addDerived(Loader maker, std::uint64_t bytes);
    /// The value on the CPU. Errors: those of the loader (a truncated record names the file).
    Result<at::IValue> get(TensorId id) const;
    Result<at::Tensor> getTensor(TensorId id) const;
    /// The value with its tensors on `device`.
    Result<at::IValue> getOn(TensorId id, const at::Device& device) const;
    std::uint64_t bytes(TensorId id) const override;
    /// Bytes of the entries that this store owns: not those of the store below, nor derived ones,
    /// which are made again when needed.
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

/// The tensors of a graph or a draft. Null where it has none.
std::shared_ptr<TensorStore> tensorsOf(const Graph& graph);
std::shared_ptr<TensorStore> tensorsOf(const GraphEdit& edit);

} // namespace qs
