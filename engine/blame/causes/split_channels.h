// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/blame/causes/site_facts.h"

#include <vector>

namespace qs {

/// By channel of the site's value, whether no reader multiplies it by anything but zeros: linears
/// that a split left the other channels. Empty where it is not known, as of other readers.
std::vector<bool> unreadChannels(const SiteFacts& facts, const BlameSite& site);

/// The cure that splits these channels off every linear that reads the value, and gives the others
/// the range that they had while the blame ran, with all bits where the kernels take them. Nothing
/// where a reader is not a linear with a stored weight, where the value is quantized for others
/// too, or where the range is not one scale chosen before the run. `split`: by channel.
std::vector<Proposal> splitReaders(const SiteFacts& facts, const SiteBlame& blamed,
                                   const std::vector<bool>& split);

} // namespace qs
