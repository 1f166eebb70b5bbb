// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/plan/plan.h"

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace qs {

/// A place of an observer. Several sites may use one observer instance.
struct ObserverSite
{
    ValueRef value; ///< none for interiors
    bool output = false; ///< on the value for all readers; else for `readers` only
    std::vector<Use> readers;
    ObserverSpec spec;
    const Rule* rule = nullptr; ///< the rule that gave the spec; borrowed from the table
    std::size_t instance = 0; ///< the site whose observer this one uses
    bool removed = false;
    bool fromEdgeRule = false;
    NodeId weightOwner; ///< of weights and interiors
    std::string interior; ///< PlannedObserver::interior
};

/// The sites of one graph during placement, and which of them use one observer. Borrows the graph.
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
    /// Removes the site of a value, which then stays float.
    void removeOutput(ValueRef value, std::size_t site);
    /// Makes an argument of a node read the value through the site.
    void setRead(Use reader, ValueRef value, std::size_t site);
    bool isRead(Use reader, ValueRef value) const;

    /// Marks the value as a float result of a quantized operator: its readers cannot use observers
    /// before it.
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

/// Whether operators compute the layer's weight only from stored tensors, as weight_norm does;
/// `prepareModel` replaces such a weight by a stored one.
bool isComputedWeight(const Graph& graph, const Node& layer, ValueRef weight);

} // namespace qs
