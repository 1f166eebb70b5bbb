// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/configure/extension_packs.h"
#include "engine/custom_modules/custom_module.h"

namespace qs {

/// Creates the custom module described by an extension pack. It is a gathered node
/// (`gatherModules`) with observed results ("activation_post_process", as in torch.ao's observed
/// modules; numbered if there are several).
CustomModulePtr makePackModule(PackModuleSpec spec);

} // namespace qs
