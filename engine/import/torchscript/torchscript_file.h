// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/import/archive/pt2_archive.h"

#include <ATen/core/ivalue.h>
#include <torch/csrc/jit/api/compilation_unit.h>

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace qs {

/// A TorchScript archive, opened without running anything of it: its code compiled, its objects
/// rebuilt. Weights of plain files are not read: their storages are place holders, and `records`
/// says in which record of the archive each lies.
struct ScriptFile
{
    std::shared_ptr<torch::jit::CompilationUnit> unit;
    std::shared_ptr<std::vector<at::IValue>> constants; ///< the compiled code points into it
    at::IValue root; ///< the model, an object of a module class
    std::vector<at::IValue> tracedInputs; ///< of a traced model: its example inputs, shapes and
                                          ///< types only (never read their elements)
    bool lazy = true; ///< weights are place holders
    std::unordered_map<const c10::StorageImpl*, std::string> records;
};

/// Errors (BadInput): not TorchScript, or of an old form; damaged; a `__setstate__` that does more
/// than rebuild packed weights; a class that LibTorch does not know.
Result<ScriptFile> openScriptFile(const Pt2Archive& archive, const JobContext& job);

} // namespace qs
