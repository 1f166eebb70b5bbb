// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/blame/causes/site_facts.h"

#include <optional>

namespace qs {

/// A range that reduces the noise in the outputs, even if the value itself loses accuracy.
struct SlopedRange
{
    ObserverSpec spec; ///< with that range's scale and zero point (`fixed_qparams`)
    double gainDb = 0; ///< reduction of its noise in the outputs, to first order
};

/// Returns the range with minimal E[g^2 (Q(v) - v)^2], where g is the gradient of the outputs with
/// respect to the value v, over the bins of the observer's histogram (PTQ4ViT, Yuan 2022: a
/// Hessian-guided metric). Large v to which the outputs are insensitive (before tanh, for example)
/// may be clipped. Considers all sites of the observer together. nullopt if one of them has no
/// gradient or no recorded slopes (`SiteBlame::slopes`).
std::optional<SlopedRange> slopedRange(const SiteFacts& facts, const SiteBlame& blamed);

} // namespace qs
