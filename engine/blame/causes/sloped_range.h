// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/blame/causes/site_facts.h"

#include <optional>

namespace qs {

/// A range that the outputs would rather have, whatever the value itself loses by it.
struct SlopedRange
{
    ObserverSpec spec; ///< with that range's scale and zero point (`fixed_qparams`)
    double gainDb = 0; ///< that its noise in the outputs would shrink by, to first order
};

/// The range of least E[g^2 (Q(v) - v)^2], g the gradient of the outputs at the value v, by bins of
/// the histogram that the site's observer counted (PTQ4ViT, Yuan 2022: a Hessian-guided metric).
/// Where v is far away and the outputs do not feel it any more (after tanh, say) it may be cut
/// off. Of all sites that the observer serves together. Nothing where one of them has no gradient,
/// or where none was gathered (`SiteBlame::slopes`).
std::optional<SlopedRange> slopedRange(const SiteFacts& facts, const SiteBlame& blamed);

} // namespace qs
