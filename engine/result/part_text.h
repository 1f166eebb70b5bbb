// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/text.h"

#include <string>

namespace qs {

/// The share of all noise at which a site is diagnosed, and below which nothing needs a cure.
inline constexpr double kLeastPart = 0.005;

/// "12.5 %" of a share in [0, 1]: the one form in which shares of the outputs' noise are shown.
inline std::string partText(double part)
{
    return fixedText(100 * part, 1) + " %";
}

/// "12.5 ± 0.8 %"; without an error as the share alone.
inline std::string partText(double part, double standardError)
{
    return standardError > 0
        ? fixedText(100 * part, 1) + " ± " + fixedText(100 * standardError, 1) + " %"
        : partText(part);
}

} // namespace qs
