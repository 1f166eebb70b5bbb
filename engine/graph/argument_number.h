// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/attribute.h"

#include <optional>

namespace qs {

/// The value of an integer or real argument; nullopt for any other constant, a reference or an
/// absent argument (null).
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
