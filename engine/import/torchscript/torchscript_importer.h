// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/graph/graph.h"
#include "engine/import/archive/pt2_archive.h"

#include <memory>

namespace qs {

/// True when the archive is TorchScript.
bool isTorchScript(const Pt2Archive& archive);

/// Reads a traced or scripted model as the graph that a .pt2 of it gives: nodes as the program has
/// them (in-place operators included), weights lazy. Runs nothing of the file. `info.path` is set,
/// `info.sha256` is not. Errors as `importModel`; Unsupported names the TorchScript construct and
/// its place.
Result<Graph> readTorchScript(std::shared_ptr<Pt2Archive> archive, const JobContext& job = {});

} // namespace qs
