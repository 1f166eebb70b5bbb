// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/configure/backend/backend_check.h"

namespace qs {

/// Checks one dtype and its constraints by themselves. Errors: nothing can satisfy them. Warnings:
/// PyTorch ignores them. The texts name the keys, not the place.
std::vector<BackendProblem> auditConstraints(const DTypeWithConstraints& value);

} // namespace qs
