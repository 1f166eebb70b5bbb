// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/import/archive/lazy_tensors.h"
#include "engine/io/zip_reader.h"

#include <ATen/core/Tensor.h>

#include <memory>

namespace qs {

/// A tensor that stays in its archive until rows of it are asked for. A value; any thread.
struct StoredTensor
{
    std::shared_ptr<const ZipReader> archive;
    std::size_t entry = 0; ///< of the archive
    std::uint64_t start = 0; ///< bytes from the entry's start to the storage's first element
    TensorLayout layout; ///< in elements of that storage
};

/// Memory for a batch, on the CPU, not set. A large one lies outside the heap and goes back to the
/// system with its last tensor: in a heap that never shrinks, batches and the results that are made
/// from them would leave holes that the next batch does not fit.
at::Tensor batchTensor(at::IntArrayRef sizes, at::ScalarType type);

/// Whether the layout lies within its entry.
bool fitsEntry(const StoredTensor& stored);

/// Rows `begin` to `end` (first dimension) as a contiguous tensor on the CPU. Memory: that tensor
/// and, where the rows are not in one piece, a buffer of its size or of a few megabytes. The error
/// (BadInput) names the file, not the tensor.
Result<at::Tensor> readRows(const StoredTensor& stored, std::int64_t begin, std::int64_t end);

/// The whole tensor, scalars too.
Result<at::Tensor> readWhole(const StoredTensor& stored);

} // namespace qs
