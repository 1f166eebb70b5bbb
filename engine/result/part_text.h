// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/text.h"

#include <string>

namespace qs {

/// The minimum share of all noise from which a site is diagnosed; below it, no cure is needed.
inline constexpr double kLeastPart = 0.005;

/// Formats a share in [0, 1] as "12.5 %": the common form of shares of the outputs' noise.
inline std::string partText(double part)
{
    return fixedText(100 * part, 1) + " %";
}

/// Formats "12.5 ± 0.8 %"; only the share if the error is zero.
inline std::string partText(double part, double standardError)
{
    return standardError > 0
        ? fixedText(100 * part, 1) + " ± " + fixedText(100 * standardError, 1) + " %"
        : partText(part);
}

} // namespace qs
