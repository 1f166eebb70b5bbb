// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/import/archive/pt2_archive.h"

#include <ATen/core/function_schema.h>

#include <mutex>
#include <shared_mutex>
#include <vector>

namespace qs {

/// Registers placeholders for the unknown operators of a TorchScript file (those of a library that
/// is not loaded), because LibTorch cannot compile calls of unregistered operators. Their schemas
/// are derived from the calls; they cannot run. They exist during the lifetime of this object.
/// Files without unknown operators are read in parallel; a file with some is read exclusively.
class ScriptPlaceholders
{
public:
    ScriptPlaceholders();
    ~ScriptPlaceholders();
    ScriptPlaceholders(const ScriptPlaceholders&) = delete;
    ScriptPlaceholders& operator=(const ScriptPlaceholders&) = delete;

    /// Registers placeholders. A call has one result, a tensor, or as many as the program unpacks.
    /// Returns their names for messages; "" without such operators, so LibTorch failed for another
    /// reason. May throw exceptions of LibTorch's parser.
    Result<std::string> add(const Pt2Archive& archive);

private:
    std::shared_lock<std::shared_mutex> m_beside;
    std::unique_lock<std::shared_mutex> m_alone;
    std::vector<c10::FunctionSchema> m_added;
};

/// True for the schema of a placeholder for an unknown operator.
bool isPlaceholder(const c10::FunctionSchema& schema);

} // namespace qs
