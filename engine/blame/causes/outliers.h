// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/blame/causes/site_facts.h"

namespace qs {

/// What a row of the table of causes returns: nothing where its evidence is missing.
using Found = std::optional<Cause>;

/// A cause without its site and share.
Cause caused(CauseCode code, std::vector<std::string> evidence, std::vector<Proposal> proposals);

/// With three digits, as evidence shows figures.
std::string figureText(double value);

/// The value below which this part of the numbers lies. `values` is not empty.
double quantileOf(std::vector<double> values, double part);

/// At most a tenth of the channels reaches four times the median channel (`kWideRange`) in at least
/// nine tenths of the batches, and without them the range would be at most half as wide.
Found outlierChannel(const SiteFacts& facts, const SiteBlame& blamed);
/// The same for places (the first token, padding) over all samples.
Found outlierPosition(const SiteFacts& facts, const SiteBlame& blamed);
/// The same for samples: what the range holds for a few of them rounds the others away.
Found outlierSample(const SiteFacts& facts, const SiteBlame& blamed);

/// The largest channel and sample of a value against the median ones; empty where neither is known.
std::vector<std::string> extremesOf(const SiteBlame& blamed);

} // namespace qs
