// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/observer_sites.h"

#include "engine/graph/operators/operators.h"

#include <algorithm>
#include <map>
#include <unordered_set>

namespace qs {

std::size_t ObserverSites::add(ObserverSite site)
{
    site.instance = m_sites.size();
    m_sites.push_back(std::move(site));
    return m_sites.size() - 1;
}

void ObserverSites::removeOutput(ValueRef value, std::size_t site)
{
    m_sites[site].removed = true;
    m_outputs.erase(value);
}

void ObserverSites::setRead(Use reader, ValueRef value, std::size_t site)
{
    m_reads[{reader, value}] = site;
}

bool ObserverSites::isRead(Use reader, ValueRef value) const
{
    return m_reads.count({reader, value}) > 0;
}

/// Whether the value's parameters are those of a value inside a custom module.
bool ObserverSites::isInterior(std::size_t site) const
{
    return !m_sites[m_sites[site].instance].interior.empty();
}

/// The observer through which the argument reads the value; none = size().
std::size_t ObserverSites::siteRead(Use reader, ValueRef value) const
{
    if (const auto read = m_reads.find({reader, value}); read != m_reads.end())
        return read->second;
    if (const auto output = m_outputs.find(value); output != m_outputs.end())
        return output->second;
    return m_sites.size();
}

/// The nearest observer upstream of that reading: through each producer's first value argument, or
/// strictly its first argument.
ObserverSites::Upstream ObserverSites::siteUpstream(Use reader, ValueRef value, bool strict) const
{
    for (;;) {
        const std::size_t site = siteRead(reader, value);
        if (site < m_sites.size())
            return {site};
        if (m_floats.contains(value))
            return {m_sites.size(), true};
        const Node& producer = m_graph.get(value.node);
        if (producer.kind != NodeKind::Op)
            return {m_sites.size()};
        const ValueRef* next = nullptr;
        for (std::uint32_t a = 0; a < producer.args.size() && !next; ++a) {
            next = producer.args[a].value.asRef();
            reader.argument = a;
            if (strict)
                break;
        }
        if (!next)
            return {m_sites.size()};
        reader.node = producer.id;
        value = *next;
    }
}

ObserverSites::Sharing ObserverSites::share(const Node& node, std::size_t output)
{
    for (std::uint32_t a = 0; a < node.args.size(); ++a) {
        const Argument& argument = node.args[a].value;
        const auto* list = argument.asList();
        if (!argument.asRef() && !(list && !list->empty() && list->front().asRef()))
            continue;
        const ValueRef firstRef = list ? *list->front().asRef() : *argument.asRef();
        const auto missing = [](const Upstream& upstream) {
            return upstream.isFloat ? Sharing::FloatBefore : Sharing::NothingObserved;
        };
        const Upstream found = siteUpstream({node.id, a}, firstRef, false);
        const std::size_t first = found.site;
        if (first == m_sites.size())
            return missing(found);
        const std::size_t instance = m_sites[first].instance;
        std::vector<std::size_t> others;
        bool joins = false;
        for (std::size_t i = 1; list && i < list->size(); ++i) {
            const ValueRef* ref = (*list)[i].asRef();
            const Upstream upstream
                = ref ? siteUpstream({node.id, a}, *ref, true) : Upstream {m_sites.size()};
            const std::size_t other = upstream.site;
            if (other == m_sites.size())
                return missing(upstream);
            others.push_back(other);
            joins = joins
                || (m_sites[other].instance != instance
                    && (isInterior(other) || isInterior(first)));
        }
        if (joins)
            return m_sites[output].spec.kind != ObserverKind::ReuseInput ? Sharing::Done
                                                                         : Sharing::NothingObserved;
        for (const std::size_t other : others)
            m_sites[other].instance = instance;
        m_sites[output].instance = instance;
        return Sharing::Done;
    }
    return Sharing::NothingObserved;
}

ObservedEdge ObserverSites::edgeOf(const ObserverSite& site) const
{
    ObservedEdge edge {site.value, site.readers};
    if (site.output || site.weightOwner)
        return edge;
    // If all readers read through this observer, it is placed at the value itself.
    const auto users = m_graph.users(site.value);
    const bool everybody = std::all_of(users.begin(), users.end(), [&](const Use& use) {
        return std::find(site.readers.begin(), site.readers.end(), use) != site.readers.end();
    });
    if (everybody && !m_outputs.count(site.value) && !site.fromEdgeRule
        && !m_floats.contains(site.value))
        edge.readers.clear();
    return edge;
}

std::vector<PlannedObserver> ObserverSites::collect() const
{
    std::map<std::size_t, PlannedObserver> byInstance;
    for (const ObserverSite& site : m_sites) {
        if (site.removed)
            continue;
        const ObserverSite& own = m_sites[site.instance];
        PlannedObserver& observer = byInstance[site.instance];
        observer.spec = own.spec;
        if (own.rule)
            observer.rule = *own.rule;
        else
            observer.rule.kind = RuleKind::None;
        observer.isWeight = own.weightOwner && own.interior.empty();
        observer.weightOwner = own.weightOwner;
        observer.interior = own.interior;
        if (site.value)
            observer.edges.push_back(edgeOf(site));
    }
    std::vector<PlannedObserver> out;
    for (auto& [instance, observer] : byInstance) {
        std::stable_sort(observer.edges.begin(), observer.edges.end(),
                         [this](const ObservedEdge& a, const ObservedEdge& b) {
                             return m_graph.position(a.value.node) < m_graph.position(b.value.node);
                         });
        observer.id = ObserverId(std::uint32_t(out.size() + 1));
        out.push_back(std::move(observer));
    }
    return out;
}

bool isComputedWeight(const Graph& graph, const Node& layer, ValueRef weight)
{
    if (factsOf(layer.target).weighted == OperatorFacts::Weighted::No)
        return false;
    std::vector<ValueRef> open {weight};
    std::unordered_set<ValueRef> seen;
    while (!open.empty()) {
        const ValueRef at = open.back();
        open.pop_back();
        const Node& node = graph.get(at.node);
        if (!seen.insert(at).second || node.isStored())
            continue;
        if (node.kind != NodeKind::Op || !node.opaqueReason.empty() || !node.subgraphs.empty())
            return false;
        for (const NamedArgument& argument : node.args)
            forEachRef(argument.value, [&open](ValueRef read) { open.push_back(read); });
    }
    return true;
}

} // namespace qs
