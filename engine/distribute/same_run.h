// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/distribute/group.h"

#include <string>
#include <vector>

namespace qs {

/// What the ranks of a run must have in common: names in the plural ("recipes") with contents.
struct RunFact
{
    std::string what;
    std::string content; ///< a hash, a version
};
using RunIdentity = std::vector<RunFact>;

/// Fails on every rank (BadInput) if two ranks differ in a fact; the error names both, with their
/// hosts, and the fact. All ranks list the same names. Collective.
Result<void> checkSameRun(Group& group, const RunIdentity& identity, const JobContext& job);

/// A mark of a file's or a folder's content that copies on other machines share: names, sizes, and
/// of a file its first and last megabyte. Reads no more than that. "sample", "" and missing paths
/// have none.
std::string contentMark(const std::string& path);

} // namespace qs
