// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/graph/graph.h"
#include "engine/import/archive/pt2_archive.h"

#include <memory>
#include <string>

namespace qs {

/// Returns the archive record of a .pt2's program ("models/model.json"); empty if the archive is
/// not a .pt2.
std::string pt2ModelRecord(const Pt2Archive& archive);

/// Reads an exported program. Nodes are those of the file, including in-place operators; weights
/// are lazy. Sets `info.path`, but not `info.sha256`. Errors as `importModel`.
Result<Graph> readPt2(std::shared_ptr<Pt2Archive> archive, const JobContext& job = {});

} // namespace qs
