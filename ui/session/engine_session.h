// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/session/engine_service.h"

namespace qs {

/// The real engine behind the window. Keeps nothing between calls; every call may come from any
/// worker thread.
std::unique_ptr<EngineService> makeEngineSession();

} // namespace qs
