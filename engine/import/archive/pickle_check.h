// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace qs {

/// The error for a pickle that creates or modifies other kinds of objects (a `state_dict`).
inline constexpr const char* kNotPlainData
    = "it holds something other than tensors, numbers, tuples, lists and dictionaries";

/// Returns the bytes of a storage's record; nullopt if the archive has none.
using StorageSize = std::function<std::optional<std::uint64_t>(const std::string& key)>;

/// Checks that LibTorch's reader can safely load this pickle: that reader trusts storages, sizes
/// and strides, and traverses and frees its result recursively. Creates no objects. Fails
/// (BadInput) on a tensor that exceeds its storage, a storage that exceeds its record, a sparse
/// tensor, an instruction unknown to LibTorch, or a structure that is too deep, cyclic or unfolds
/// to far more than the file's content. Any thread.
Result<void> checkPickle(std::string_view pickle, const StorageSize& storageSize);

} // namespace qs
