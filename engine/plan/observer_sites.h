// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/plan/plan.h"

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace qs {

/// One place where an observer sits. Several sites may be one instance.
struct ObserverSite
{
    ValueRef value; ///< none for interiors
    bool output = false; ///< on the value for all readers; else for `readers` only
    std::vector<Use> readers;
    ObserverSpec spec;
    const Rule* rule = nullptr; ///< that gave the spec; borrowed from the table
    std::size_t instance = 0; ///< the site whose observer this one uses
    bool removed = false;
    bool fromEdgeRule = false;
    NodeId weightOwner; ///< of weights and interiors
    std::string interior; ///< PlannedObserver::interior
};

/// The sites of one graph while they are being placed, and which of them are one observer. Borrows
/// the graph.
class ObserverSites
{
public:
    explicit ObserverSites(const Graph& graph)
        : m_graph(graph)
    {
    }

    /// Returns the new site's index; it is its own instance.
    std::size_t add(ObserverSite site);
    ObserverSite& operator[](std::size_t index) { return m_sites[index]; }
    const ObserverSite& operator[](std::size_t index) const { return m_sites[index]; }
    std::size_t size() const { return m_sites.size(); }

    /// Sets the site of the value itself, for all its readers.
    void setOutput(ValueRef value, std::size_t site) { m_outputs[value] = site; }
    /// Takes the site of the value away: it stays float.
    void removeOutput(ValueRef value, std::size_t site);
    /// An argument of a node reads the value through the site.
    void setRead(Use reader, ValueRef value, std::size_t site);
    bool isRead(Use reader, ValueRef value) const;

    /// Marks the value as a float result of a quantized operator: observers before it do not serve
    /// its readers.
    void setFloat(ValueRef value) { m_floats.insert(value); }

    enum class Sharing : std::uint8_t
    {
        Done,
        NothingObserved, ///< no observer to share
        FloatBefore ///< a float value comes first
    };
    /// Makes the output's site and the node's inputs use the first input's observer. A custom
    /// module's result keeps its parameters: an operator that only moves it uses them too, one that
    /// joins it with other values keeps a separate observer.
    Sharing share(const Node& node, std::size_t output);

    /// The observers, in the order in which their sites were added.
    std::vector<PlannedObserver> collect() const;

private:
    /// One argument of one node, and the value it reads there.
    struct Reading
    {
        Use reader;
        ValueRef value;
        friend bool operator==(const Reading&, const Reading&) = default;
    };
    struct ReadingHash
    {
        std::size_t operator()(const Reading& reading) const
        {
            return std::hash<ValueRef>()(reading.value) * 31
                + std::size_t(reading.reader.node.value()) * 7 + reading.reader.argument;
        }
    };

    bool isInterior(std::size_t site) const;
    std::size_t siteRead(Use reader, ValueRef value) const;
    /// The same upstream of there, and whether a value that was left float ended the search.
    struct Upstream
    {
        std::size_t site;
        bool isFloat = false;
    };
    Upstream siteUpstream(Use reader, ValueRef value, bool strict) const;
    ObservedEdge edgeOf(const ObserverSite& site) const;

    const Graph& m_graph;
    std::vector<ObserverSite> m_sites;
    std::unordered_map<ValueRef, std::size_t> m_outputs;
    std::unordered_set<ValueRef> m_floats;
    std::unordered_map<Reading, std::size_t, ReadingHash> m_reads;
};

/// Whether operators compute the layer's weight of stored tensors alone, as weight_norm does:
/// preparing makes a stored one of it.
bool isComputedWeight(const Graph& graph, const Node& layer, ValueRef weight);

} // namespace qs
