// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/session/engine_service.h"

namespace qs {

/// The window's real engine. Thread safe: any worker thread may call it. A calibration
/// that is cancelled leaves its statistics in `keepIn`, a folder that is made when it is needed,
/// and the next one of the same model, plan and data goes on from there; without a folder it starts
/// over. `valueBytes`: memory for values from which a comparison goes on after a change, two thirds
/// of it, and for previews.
inline constexpr std::size_t kUsualValueBytes = std::size_t(768) << 20;
std::unique_ptr<EngineService> makeEngineSession(std::string keepIn = {},
                                                 std::size_t valueBytes = kUsualValueBytes);

} // namespace qs
