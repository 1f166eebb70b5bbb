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
    /// Whether it requires gradients. None are made here, but `matmul` (`should_fold`) chooses its
    /// order of sums by it, and so the last bits.
    bool requiresGrad = false;

    /// Elements of storage the layout reaches; nothing when a number is negative or the product
    /// overflows.
    std::optional<std::uint64_t> reach() const;
};

/// That of a tensor whose storage is the record.
TensorLayout layoutOf(const at::Tensor& tensor, std::string record);

/// Tensors of an archive that are read when first used. Layouts that share a record (tied weights,
/// slices of one storage) share its memory once it is read. Copies share everything; thread safe.
class LazyTensors
{
public:
    LazyTensors() = default;
    explicit LazyTensors(std::shared_ptr<const Pt2Archive> archive);

    /// An entry of `store` for the tensor. Errors (BadInput): an element type without ours, a
    /// layout that reaches beyond its record; the message starts with the tensor's fault.
    Result<TensorId> add(TensorStore& store, const TensorLayout& layout) const;

private:
    struct Records;
    std::shared_ptr<const Pt2Archive> m_archive;
    std::shared_ptr<Records> m_records;
};

} // namespace qs
