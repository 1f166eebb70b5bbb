// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/decibels.h"

#include <QString>

#include <string_view>

namespace qs {

/// Converts UTF-8 text of the engine.
inline QString toQString(std::string_view view)
{
    return QString::fromUtf8(view.data(), int(view.size()));
}

/// Formats an SQNR as the command line does: "33.2 dB", or "exact".
inline QString shownSqnr(double db, const char* unit = " dB", int decimals = 1)
{
    return toQString(sqnrText(db, decimals, unit));
}

} // namespace qs
