// SPDX-License-Identifier: Apache-2.0
#include "engine/values/channel_outliers.h"

#include <algorithm>
#include <cmath>
#include <span>

namespace qs {

namespace {

double magnitude(const ChannelError& channel)
{
    return std::max(std::abs(channel.low), std::abs(channel.high));
}

void markWithin(std::span<ChannelError> channels)
{
    std::vector<double> sizes;
    double noise = 0;
    for (const ChannelError& channel : channels) {
        sizes.push_back(magnitude(channel));
        noise += channel.noise;
    }
    const auto middle = sizes.begin() + std::ptrdiff_t(sizes.size() / 2);
    std::nth_element(sizes.begin(), middle, sizes.end());
    const double fair = noise / double(channels.size());
    for (ChannelError& channel : channels) {
        channel.isWide = *middle > 0 && magnitude(channel) >= kWideRange * *middle;
        channel.isNoisy = std::isinf(channel.noise)
            || (fair > 0 && std::isfinite(fair) && channel.noise >= kNoisyShare * fair);
    }
}

} // namespace

void markOutliers(std::vector<ChannelError>& channels)
{
    for (auto begin = channels.begin(); begin != channels.end();) {
        const auto end = std::find_if(begin, channels.end(), [&](const ChannelError& channel) {
            return channel.result != begin->result;
        });
        markWithin({begin, end});
        begin = end;
    }
}

} // namespace qs
