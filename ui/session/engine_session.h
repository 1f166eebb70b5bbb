// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/session/engine_service.h"

namespace qs {

/// The window's real engine. Thread safe: any worker thread may call it. A cancelled
/// calibration leaves its statistics in `keepIn`, a folder that is created on demand; the next one
/// of the same model, plan and data resumes from there. Without a folder it starts over.
/// `valueBytes`: memory for cached values, two thirds for comparisons that resume after a change,
/// the rest for previews.
inline constexpr std::size_t kUsualValueBytes = std::size_t(768) << 20;
std::unique_ptr<EngineService> makeEngineSession(std::string keepIn = {},
                                                 std::size_t valueBytes = kUsualValueBytes);

} // namespace qs
