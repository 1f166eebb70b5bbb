// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/graph/graph.h"
#include "engine/import/archive/pt2_archive.h"

#include <memory>
#include <string>

namespace qs {

/// The record of a .pt2's program within its archive ("models/model.json"); empty when the archive
/// is not a .pt2.
std::string pt2ModelRecord(const Pt2Archive& archive);

/// Reads an exported program: nodes as the file has them (in-place operators included), weights
/// lazy. `info.path` is set, `info.sha256` is not. Errors as `importModel`.
Result<Graph> readPt2(std::shared_ptr<Pt2Archive> archive, const JobContext& job = {});

} // namespace qs
