// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/session/engine_service.h"

namespace qs {

/// The real engine behind the window. Keeps nothing in memory between calls; every call may come
/// from any worker thread. A calibration that is cancelled leaves its statistics in `keepIn`, a
/// folder that is made when it is needed, and the next one of the same model, plan and data goes on
/// from there; without a folder it starts over.
std::unique_ptr<EngineService> makeEngineSession(std::string keepIn = {});

} // namespace qs
