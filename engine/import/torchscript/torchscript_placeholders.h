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
/// operators that the code of a TorchScript file calls and nobody has (those of a library that is
/// not loaded) are registered with a schema read from the calls; none of them can run. Files that
/// need none are read side by side, one that does is read alone.
class ScriptPlaceholders
{
public:
    ScriptPlaceholders();
    ~ScriptPlaceholders();
    ScriptPlaceholders(const ScriptPlaceholders&) = delete;
    ScriptPlaceholders& operator=(const ScriptPlaceholders&) = delete;

    /// Registers them: a result is a tensor, or as many as the program takes apart. Returns their
    /// names as messages show them; "" when there are none: what LibTorch objects to is something
    /// else. May throw what LibTorch's parser throws.
    Result<std::string> add(const Pt2Archive& archive);

private:
    std::shared_lock<std::shared_mutex> m_beside;
    std::unique_lock<std::shared_mutex> m_alone;
    std::vector<c10::FunctionSchema> m_added;
};

/// True for the schema of an operator that stands in for one nobody has.
bool isPlaceholder(const c10::FunctionSchema& schema);

} // namespace qs
