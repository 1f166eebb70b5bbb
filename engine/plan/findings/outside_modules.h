// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/plan/block/prepare_settings.h"
#include "engine/plan/plan.h"

namespace qs {

/// Adds a finding that says what `prepare.only_modules` leaves outside, by module. `plan` has its
/// nodes.
void findOutsideModules(const Graph& graph, const ModuleChoices& choices, Plan& plan);

} // namespace qs
