// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/import/torchscript/torchscript_code.h"

#include <ATen/core/ivalue.h>
#include <torch/csrc/jit/api/compilation_unit.h>

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace qs {

/// Records of an object's code, if that of an equal class is compiled instead (`ScriptSharing`).
struct SharedCode
{
    std::string compiled;
    std::string own;
};

/// A TorchScript archive, opened without running its methods: compiled code and restored objects.
/// Weights of plain files are not read: their storages are placeholders, and `records` maps each to
/// its record in the archive.
struct ScriptFile
{
    std::shared_ptr<torch::jit::CompilationUnit> unit;
    std::shared_ptr<std::vector<at::IValue>> constants; ///< the compiled code points into it
    at::IValue root; ///< the model, an object of a module class
    std::vector<at::IValue> tracedInputs; ///< example inputs of a traced model: only shapes and
                                          ///< types (never read their elements)
    bool lazy = true; ///< weights are placeholders
    std::unordered_map<const c10::StorageImpl*, std::string> records;
    std::unordered_map<const c10::ivalue::Object*, SharedCode> sharedCode;
};

/// Fails (BadInput) if the archive is damaged, has a `__setstate__` that does more than restore
/// packed weights, or uses a class unknown to LibTorch.
Result<ScriptFile> openScriptFile(const Pt2Archive& archive, const ScriptCode& code,
                                  const JobContext& job);

} // namespace qs
