// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/graph/graph.h"
#include "engine/import/torchscript/torchscript_code.h"

#include <memory>

namespace qs {

/// True if the archive is TorchScript.
bool isTorchScript(const Pt2Archive& archive);

/// Reads a traced or scripted model into the graph that its .pt2 would have: nodes of the program
/// (including in-place operators), lazy weights. Runs no code of the file. Sets `info.path`, but
/// not `info.sha256`. Errors as `importModel`; Unsupported names the TorchScript construct and its
/// place.
Result<Graph> readTorchScript(std::shared_ptr<Pt2Archive> archive, const ScriptCode& code,
                              const JobContext& job = {});

} // namespace qs
