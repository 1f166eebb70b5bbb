// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/configure/extension_packs.h"
#include "engine/custom_modules/custom_module.h"

namespace qs {

/// The custom module that an extension pack describes. It is a gathered node (`gatherModules`); its
/// results are observed as they leave ("activation_post_process", as torch.ao's observed modules
/// name it; numbered where there are several).
CustomModulePtr makePackModule(PackModuleSpec spec);

} // namespace qs
