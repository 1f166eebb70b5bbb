// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QString>

#include <string_view>

namespace qs {

/// UTF-8 words of the engine for the window.
inline QString toQString(std::string_view view)
{
    return QString::fromUtf8(view.data(), int(view.size()));
}

} // namespace qs
