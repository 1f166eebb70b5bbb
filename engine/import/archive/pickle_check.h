// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace qs {

/// The error for a pickle that makes or changes objects of other kinds (a `state_dict`).
inline constexpr const char* kNotPlainData
    = "it holds something other than tensors, numbers, tuples, lists and dictionaries";

/// Bytes of the record that holds a storage; nothing if the archive lacks it.
using StorageSize = std::function<std::optional<std::uint64_t>(const std::string& key)>;

/// Checks that LibTorch's reader may load this pickle: it trusts a pickle's storages, sizes and
/// strides, and walks and frees its result recursively. This check creates no object. Errors
/// (BadInput): a tensor that reaches beyond its storage, a storage beyond its record, a sparse
/// tensor, a structure that is too deep, holds itself or unfolds to far more than the file holds,
/// an instruction that LibTorch does not know. Any thread.
Result<void> checkPickle(std::string_view pickle, const StorageSize& storageSize);

} // namespace qs
