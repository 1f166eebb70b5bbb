// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/blame/causes/site_facts.h"

namespace qs {

/// Cures that scale a value's channels.
struct ScaledChannels
{
    std::vector<Proposal> proposals;
    /// Predicted for `smooth`: by how much the noise of the value and of the weights shrinks at the
    /// results of the layers that read the value, in dB.
    double shrinksDb = 0;
};

/// Proposes to scale the channels of the site's value: `smooth` by the numbers of the least
/// predicted noise (SmoothQuant), and between two layers `equalize`. A layer or a layer norm that
/// made the value absorbs the numbers if only layers read it. Else one multiplication divides the
/// value for the layers that read it, if the value is not quantized where it is made, as an input
/// of the model. Empty if the channels cannot be scaled, or if that is predicted to bring nothing.
ScaledChannels scaledChannels(const SiteFacts& facts, const SiteBlame& blamed);

} // namespace qs
