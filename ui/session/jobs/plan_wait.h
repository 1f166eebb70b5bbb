// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/session/jobs/pipeline.h"

namespace qs {

/// What a view says that needs a plan where there is none: that it is being made, or that it cannot
/// be made of these decisions. Ask again after `Pipeline::failed`. GUI thread only.
QString planWaitText(const Pipeline& pipeline);

} // namespace qs
