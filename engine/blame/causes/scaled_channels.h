// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/blame/causes/site_facts.h"

namespace qs {

/// Proposes to scale the channels of the site's value, if a layer or a layer norm made it and only
/// layers read it: `smooth` by the numbers of the least predicted noise (SmoothQuant), and between
/// two layers `equalize`. Empty if the channels cannot be scaled, or if that is predicted to bring
/// nothing.
std::vector<Proposal> scaledChannels(const SiteFacts& facts, const SiteBlame& blamed);

} // namespace qs
