// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/blame/causes/site_facts.h"

namespace qs {

/// Result of a row of the table of causes; nullopt without evidence.
using Found = std::optional<Cause>;

/// Creates a cause without its site and share.
Cause caused(CauseCode code, std::vector<std::string> evidence, std::vector<Proposal> proposals);

/// Formats a number of an evidence sentence with three digits.
std::string figureText(double value);

/// Returns the `part` quantile of the values, which must not be empty.
double quantileOf(std::vector<double> values, double part);

/// Found if at most 10 % of the channels reach four times the median channel (`kWideRange`) in at
/// least 90 % of the batches, and the range without them would be at most half as wide.
Found outlierChannel(const SiteFacts& facts, const SiteBlame& blamed);
/// The same for positions (the first token, padding) over all samples.
Found outlierPosition(const SiteFacts& facts, const SiteBlame& blamed);
/// The same for samples: a range that fits a few of them rounds the others coarsely.
Found outlierSample(const SiteFacts& facts, const SiteBlame& blamed);

/// Returns sentences that compare a value's largest channel and sample with the median; empty if
/// neither is known.
std::vector<std::string> extremesOf(const SiteBlame& blamed);

} // namespace qs
