// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/session/jobs/pipeline.h"

namespace qs {

/// The text of a view that needs a plan and has none: planning runs, or it failed. Changes after
/// `Pipeline::failed`. GUI thread only.
QString planWaitText(const Pipeline& pipeline);

} // namespace qs
