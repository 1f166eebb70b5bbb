// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/blame/causes/site_facts.h"

#include <vector>

namespace qs {

/// Returns, by channel of the site's value, true if all consumers multiply it by zeros: linears
/// from which an earlier split removed the channel. Empty if unknown, as for other consumers.
std::vector<bool> unreadChannels(const SiteFacts& facts, const BlameSite& site);

/// Proposes to split these channels off every linear that reads the value. The other channels get
/// their range observed during the blame, with all bits if the kernels support them. Empty if a
/// consumer is not a linear with a stored weight, if the value is also quantized for other
/// consumers, or if the range is not a single static scale. `split`: by channel.
std::vector<Proposal> splitReaders(const SiteFacts& facts, const SiteBlame& blamed,
                                   const std::vector<bool>& split);

} // namespace qs
