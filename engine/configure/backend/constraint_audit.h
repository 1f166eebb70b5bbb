// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/configure/backend/backend_check.h"

namespace qs {

/// Checks one dtype and its constraints in isolation. Errors: unsatisfiable constraints. Warnings:
/// constraints that PyTorch ignores. The texts name the keys, not the entry.
std::vector<BackendProblem> auditConstraints(const DTypeWithConstraints& value);

} // namespace qs
