// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/decibels.h"

#include <QString>

#include <string_view>

namespace qs {

/// UTF-8 words of the engine for the window.
inline QString toQString(std::string_view view)
{
    return QString::fromUtf8(view.data(), int(view.size()));
}

/// "33.2 dB", or "exact": an SQNR as the command line words it.
inline QString shownSqnr(double db, const char* unit = " dB", int decimals = 1)
{
    return toQString(sqnrText(db, decimals, unit));
}

} // namespace qs
