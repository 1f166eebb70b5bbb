// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"
#include "engine/import/archive/pt2_archive.h"

#include <ATen/core/function_schema.h>

#include <mutex>
#include <shared_mutex>
#include <vector>

namespace qs {

/// LibTorch compiles no call of an operator that is not registered. While this object lives, the
/// unknown operators that the code of a TorchScript file calls (those of a library that is not
/// loaded) are registered with a schema read from the calls; they cannot run. Files without any are
/// read in parallel; a file with some is read alone.
class ScriptPlaceholders
{
public:
    ScriptPlaceholders();
    ~ScriptPlaceholders();
    ScriptPlaceholders(const ScriptPlaceholders&) = delete;
    ScriptPlaceholders& operator=(const ScriptPlaceholders&) = delete;

    /// Registers them; a call has one result, a tensor, or as many as the program unpacks. Returns
    /// their names for messages; "" without any: then LibTorch fails for another reason. May throw
    /// exceptions of LibTorch's parser.
    Result<std::string> add(const Pt2Archive& archive);

private:
    std::shared_lock<std::shared_mutex> m_beside;
    std::unique_lock<std::shared_mutex> m_alone;
    std::vector<c10::FunctionSchema> m_added;
};

/// True for the schema of a placeholder for an unknown operator.
bool isPlaceholder(const c10::FunctionSchema& schema);

} // namespace qs
