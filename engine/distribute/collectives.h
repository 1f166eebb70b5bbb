// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/distribute/group.h"

#include <vector>

namespace qs {

/// Exchanges that all ranks of a group take part in, each with the same name, which is used once.
/// All go along a binomial tree: no rank reads more than ceil(log2(size)) messages. Errors: those
/// of `Group::receive`. A group of one returns at once.

/// Returns the bytes of rank `from` on every rank; those of others are ignored.
Result<std::string> broadcast(Group& group, const std::string& name, std::string bytes,
                              const JobContext& job, int from = 0);

/// Returns the bytes of all ranks, in their order, on rank 0; an empty list on the others.
Result<std::vector<std::string>> gather(Group& group, const std::string& name, std::string bytes,
                                        const JobContext& job);

/// Returns the bytes of all ranks, in their order, on every rank.
Result<std::vector<std::string>> gatherEverywhere(Group& group, const std::string& name,
                                                  std::string bytes, const JobContext& job);

} // namespace qs
