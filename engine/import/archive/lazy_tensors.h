// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/execute/tensor_store.h"
#include "engine/graph/dtype.h"
#include "engine/import/archive/pt2_archive.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace qs {

/// The place of a tensor's elements within a record of an archive.
struct TensorLayout
{
    std::string record;
    DType dtype = DType::Unknown;
    std::vector<std::int64_t> sizes;
    std::vector<std::int64_t> strides;
    std::int64_t offset = 0; ///< in elements
    /// The tensor's `requires_grad`. No gradients are computed, but `matmul` (`should_fold`)
    /// chooses its summation order by it, which affects the last bits.
    bool requiresGrad = false;

    /// Returns the number of storage elements that the layout spans; nullopt if a number is
    /// negative or the product overflows.
    std::optional<std::uint64_t> reach() const;
};

/// Returns the layout of a tensor whose storage is the record.
TensorLayout layoutOf(const at::Tensor& tensor, std::string record);

/// Tensors of an archive, read on first use. Layouts with the same record (tied weights, slices of
/// one storage) share its memory. Copies share everything; thread safe.
class LazyTensors
{
public:
    LazyTensors() = default;
    explicit LazyTensors(std::shared_ptr<const Pt2Archive> archive);

    /// Adds an entry for the tensor to `store`. Fails (BadInput) on an unsupported element type or
    /// a layout that exceeds its record; the message starts with the fault.
    Result<TensorId> add(TensorStore& store, const TensorLayout& layout) const;

private:
    struct Records;
    std::shared_ptr<const Pt2Archive> m_archive;
    std::shared_ptr<Records> m_records;
};

} // namespace qs
