// SPDX-License-Identifier: Apache-2.0
#include "engine/blame/causes/site_facts.h"

#include "engine/configure/backend_config.h"
#include "engine/convert/ranges/storage_range.h"
#include "engine/execute/tensor_store.h"
#include "engine/plan/summaries/group_root.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace qs {

SiteFacts::SiteFacts(const DiagnosisParts& parts)
    : m_parts(parts)
    , m_sharedRanges(sharedRanges(*parts.prepared, *parts.qparams, *parts.observations))
{
}

const PlannedObserver* SiteFacts::observer(const BlameSite& site) const
{
    const auto& all = plan().observers;
    const auto found = std::find_if(all.begin(), all.end(), [&](const PlannedObserver& one) {
        return one.id == site.observer;
    });
    return found == all.end() ? nullptr : &*found;
}

const ObserverStats* SiteFacts::stats(const BlameSite& site) const
{
    const ObserverStats* seen
        = site.observer ? m_parts.observations->tryGet(site.observer) : nullptr;
    return seen && seen->everRan() ? seen : nullptr;
}

const ObserverStats* SiteFacts::statsOf(ValueRef value) const
{
    for (const PlannedObserver& one : plan().observers)
        for (const ObservedEdge& edge : one.edges)
            if (edge.value == value)
                if (const ObserverStats* seen = m_parts.observations->tryGet(one.id);
                    seen && seen->everRan())
                    return seen;
    return nullptr;
}

bool SiteFacts::holdsHuge(const Node& stored, double magnitude) const
{
    const auto store = tensorsOf(model());
    const auto value = store ? store->get(stored.tensor) : Result<at::IValue>(at::IValue());
    if (!value || !value->isTensor() || !value->toTensor().is_floating_point())
        return false;
    const at::Tensor& tensor = value->toTensor();
    return tensor.numel() > 0 && at::abs(tensor).max().item<double>() >= magnitude;
}

const QParams* SiteFacts::qparams(const BlameSite& site) const
{
    const auto found = m_parts.qparams->find(site.observer);
    return found == m_parts.qparams->end() ? nullptr : &found->second;
}

bool SiteFacts::isQuantized(NodeId node) const
{
    return isQuantizedIn(model(), plan(), node);
}

bool SiteFacts::takesDynamic(NodeId node) const
{
    const NodePlan* plan = decided(node);
    const auto backend = findBackend(this->plan().backend);
    if (!plan || !backend || plan->patternEntry < 0
        || std::size_t(plan->patternEntry) >= backend->patterns.size())
        return false;
    const auto& configs = backend->patterns[std::size_t(plan->patternEntry)].dtypeConfigs;
    return std::any_of(configs.begin(), configs.end(), [](const DTypeConfig& config) {
        return config.isDynamic && config.input.dtype && isIntegerDType(*config.input.dtype);
    });
}

const SharedRange* SiteFacts::shared(const BlameSite& site) const
{
    for (const SharedRange& range : m_sharedRanges)
        if (range.observer == site.observer)
            for (const SharedRange::Member& member : range.members)
                if (member.value == site.value && member.costDb > kSharingCostDb)
                    return &range;
    return nullptr;
}

double SiteFacts::shareInto(NodeId node) const
{
    double sum = 0;
    for (const SiteBlame& blamed : m_parts.blame->sites) {
        const auto& at = blamed.site.at;
        if (blamed.site.kind == BlameSite::Kind::Value
            && std::find(at.begin(), at.end(), node) != at.end())
            sum += blamed.expected;
    }
    return sum;
}

ValueAddress SiteFacts::address(NodeId node) const
{
    return m_parts.addresses->of({node, 0});
}

std::optional<Cure> SiteFacts::cureAt(CureKind kind, NodeId node) const
{
    return cureAt(kind, ValueRef {node, 0});
}

std::optional<Cure> SiteFacts::cureAt(CureKind kind, ValueRef value) const
{
    Cure cure;
    cure.kind = kind;
    cure.at = m_parts.addresses->of(value);
    return cure.at.kind == ValueAddress::Kind::None ? std::nullopt : std::optional(cure);
}

std::vector<Proposal> SiteFacts::floatReaders(const BlameSite& site) const
{
    std::optional<Cure> cure;
    for (const NodeId reader : site.at) {
        if (!isQuantized(reader))
            continue;
        const ValueAddress at = address(reader);
        if (at.kind == ValueAddress::Kind::None)
            continue;
        if (cure)
            cure->nodes.push_back(at);
        else
            cure = cureAt(CureKind::Float, reader);
    }
    return cure ? std::vector<Proposal> {{*cure, {}}} : std::vector<Proposal> {};
}

std::vector<Proposal> SiteFacts::withoutQuantizer(const BlameSite& site) const
{
    const NodePlan* maker = decided(site.node);
    if (site.readers == ReaderClass::Multiplies || !maker || !maker->quantized) {
        std::vector<Proposal> proposals = allBits(site);
        for (Proposal& one : floatReaders(site))
            proposals.push_back(std::move(one));
        return proposals;
    }
    const auto kind = isLayer(model(), plan(), site.node) ? CureKind::FloatResult : CureKind::Float;
    const auto cure = cureAt(kind, groupRoot(model(), plan(), site.node));
    return cure ? std::vector<Proposal> {{*cure, {}}} : std::vector<Proposal> {};
}

std::optional<ObserverSpec> withAllBits(const ObserverSpec& spec)
{
    if (!isIntegerDType(spec.dtype))
        return std::nullopt;
    const QuantRange used = quantRange(spec), held = storageRange(storageDType(spec.dtype));
    if (held.max - held.min != 255 || 2 * (used.max - used.min) > held.max - held.min)
        return std::nullopt;
    ObserverSpec whole = spec;
    whole.quantMin.reset();
    whole.quantMax.reset();
    whole.reduceRange = false;
    return whole;
}

std::vector<Proposal> SiteFacts::allBits(const BlameSite& site) const
{
    const PlannedObserver* seen = observer(site);
    const auto whole = seen && m_parts.eightBitsHold ? withAllBits(seen->spec) : std::nullopt;
    return whole ? otherRange(site, *whole) : std::vector<Proposal>();
}

std::vector<Proposal> SiteFacts::otherRange(const BlameSite& site, const ObserverSpec& spec) const
{
    const NodePlan* maker = decided(site.node);
    const auto cure = cureAt(CureKind::Range, site.node);
    const NodePlan* reader = site.at.empty() ? nullptr : decided(site.at.front());
    const NodePlan* with = maker && maker->qconfig ? maker : reader;
    if (!cure || !with || !with->qconfig)
        return {};
    QConfig qconfig = *with->qconfig;
    qconfig.activation = spec;
    return {{*cure, qconfig}};
}

} // namespace qs
