// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/verify/certificate.h"
#include "engine/verify/own_integers.h"

#include <ATen/core/Tensor.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace qs {

/// Differences of a runtime's integers from ours, node by node, in steps. Leaves out nodes that it
/// does not expose, or exposes with another shape. Empty if no node is left.
std::optional<VerifiedSteps> stepsApart(const NodeIntegers& ours,
                                        const std::map<std::string, at::Tensor>& theirs);

/// Sums over a run in which every node read our integers, so that no difference is inherited.
/// `outputs`: our outputs of the first batch, by position.
std::optional<AloneSteps> countAlone(const NodeIntegers& ours,
                                     const std::vector<at::Tensor>& outputs,
                                     const std::map<std::string, at::Tensor>& theirs);

/// Why a run on our integers differs from ours beyond rounding ties; "" if it does not.
std::string faultAlone(const AloneSteps& alone);

/// True if each node gives our integers except those halfway between two steps: an output's
/// departure was inherited from these. Where the runtime cannot be fed, the first node that differs
/// has to do.
bool isOnlyTies(const RuntimeVerdict& verdict);

/// True if each node gives our integers but a tie among equal scores was broken differently: later
/// values belong to other places and cannot be compared.
bool choseOthers(const RuntimeVerdict& verdict);

} // namespace qs
