// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/plan/block/prepare_settings.h"
#include "engine/plan/plan.h"

namespace qs {

/// Adds a finding that lists, by module, the operators outside `prepare.only_modules`. `plan` must
/// have its nodes.
void findOutsideModules(const Graph& graph, const ModuleChoices& choices, Plan& plan);

} // namespace qs
