// SPDX-License-Identifier: Apache-2.0
#include "engine/blame/causes/split_channels.h"

#include "engine/convert/ranges/choose_qparams.h"
#include "engine/convert/ranges/unread_channels.h"

#include <algorithm>
#include <limits>

namespace qs {

namespace {

bool isOfOneScale(const ObserverSpec& spec)
{
    return !isPerChannel(spec.qscheme) && !spec.isDynamic && isIntegerDType(spec.dtype);
}

} // namespace

std::vector<bool> unreadChannels(const SiteFacts& facts, const BlameSite& site)
{
    std::vector<bool> unread;
    for (const NodeId reader : site.at) {
        const std::vector<bool> own = unreadChannels(facts.model(), reader, site.value);
        unread.resize(unread.empty() ? own.size() : unread.size(), true);
        if (own.empty() || own.size() != unread.size())
            return {};
        for (std::size_t c = 0; c < unread.size(); ++c)
            unread[c] = unread[c] && own[c];
    }
    return unread;
}

std::vector<Proposal> splitReaders(const SiteFacts& facts, const SiteBlame& blamed,
                                   const std::vector<bool>& split)
{
    const PlannedObserver* observer = facts.observer(blamed.site);
    const NodePlan* maker = facts.decided(blamed.site.node);
    const NodePlan* reader
        = blamed.site.at.empty() ? nullptr : facts.decided(blamed.site.at.front());
    if (!observer || !isOfOneScale(observer->spec) || !blamed.profile || (maker && maker->quantized)
        || !reader || !reader->qconfig || unreadChannels(facts, blamed.site).size() != split.size())
        return {};
    Cure cure;
    cure.kind = CureKind::Split;
    for (const NodeId id : blamed.site.at) {
        const ValueAddress at = facts.address(id);
        if (at.kind == ValueAddress::Kind::None || !facts.isQuantized(id))
            return {};
        if (cure.at.kind == ValueAddress::Kind::None)
            cure.at = at;
        else
            cure.nodes.push_back(at);
    }
    double low = std::numeric_limits<double>::infinity(), high = -low;
    for (std::size_t c = 0; c < split.size(); ++c)
        if (split[c]) {
            cure.channels.push_back(int(c));
        } else {
            low = std::min(low, blamed.profile->channelLow[c]);
            high = std::max(high, blamed.profile->channelHigh[c]);
        }
    if (cure.channels.empty() || !(low < high))
        return {};
    ObserverSpec spec = observer->spec;
    if (facts.parts().eightBitsHold)
        spec = withAllBits(spec).value_or(spec);
    QConfig qconfig = *reader->qconfig;
    qconfig.activation = fixedBy(spec, qparamsFromRange(spec, {float(low)}, {float(high)}));
    return {{cure, qconfig}};
}

} // namespace qs
