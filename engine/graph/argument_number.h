// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/attribute.h"

#include <optional>

namespace qs {

/// The number that an argument is, whole or real; nothing where it is another constant, a
/// reference, or absent (null).
inline std::optional<double> numberOf(const Argument* argument)
{
    if (!argument)
        return std::nullopt;
    if (const auto* whole = argument->asInt())
        return double(*whole);
    const auto* real = argument->asDouble();
    return real ? std::optional(*real) : std::nullopt;
}

} // namespace qs
