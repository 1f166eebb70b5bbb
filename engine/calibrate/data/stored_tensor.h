// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/import/archive/lazy_tensors.h"
#include "engine/io/zip_reader.h"

#include <ATen/core/Tensor.h>

#include <memory>

namespace qs {

/// A tensor in an archive, read by rows on demand. A value type; any thread.
struct StoredTensor
{
    std::shared_ptr<const ZipReader> archive;
    std::size_t entry = 0; ///< index of the archive's entry
    std::uint64_t start = 0; ///< bytes from the entry's start to the storage's first element
    TensorLayout layout; ///< in elements of that storage
};

/// Allocates an uninitialized CPU tensor for a batch. Large ones are allocated outside the heap and
/// returned to the system with their last tensor, because batches and derived results would
/// fragment a heap that never shrinks.
at::Tensor batchTensor(at::IntArrayRef sizes, at::ScalarType type);

/// True if the layout lies within its entry.
bool fitsEntry(const StoredTensor& stored);

/// Returns rows `begin` to `end` (first dimension) as a contiguous CPU tensor. Memory: that tensor,
/// and for non-contiguous rows a buffer of its size or of a few megabytes. The error (BadInput)
/// names the file, not the tensor.
Result<at::Tensor> readRows(const StoredTensor& stored, std::int64_t begin, std::int64_t end);

/// Returns the whole tensor; also for scalars.
Result<at::Tensor> readWhole(const StoredTensor& stored);

} // namespace qs
