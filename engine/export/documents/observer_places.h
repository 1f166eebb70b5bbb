// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/plan/plan.h"

#include <map>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace qs {

/// Where a document reports the quantization parameters of one observer (design 4): at the node
/// whose value it observes, at a consumer that quantizes an input with other parameters, at the
/// operator whose weight it observes, or at a custom module for a value inside it.
struct ObserverPlace
{
    enum class Kind
    {
        Output,
        Input,
        Weight,
        Interior
    };
    Kind kind = Kind::Output;
    ObserverId observer;
    NodeId node; ///< the node whose entry reports it
    std::size_t index = 0; ///< Output: which output; Input: which of the node's value references;
                           ///< Weight: which of its weights; Interior: which of the values inside
};

/// All places of a plan's observers. If observers apply only to some consumers of a value, the
/// first one is reported at the value's node, unless that node is quantized with a float result.
/// Further observers are reported at the consumers.
class ObserverPlaces
{
public:
    ObserverPlaces(const Graph& graph, const Plan& plan);

    /// The observer at that place; an invalid id if the place is not observed.
    ObserverId find(ObserverPlace::Kind kind, NodeId node, std::size_t index = 0) const;
    bool hasOutput(NodeId node) const;
    /// The first node in graph order whose entry reports the observer; an invalid id if none does.
    NodeId firstNode(ObserverId observer) const;
    const std::vector<ObserverPlace>& all() const { return m_places; }

private:
    void placeReaders(const Graph& graph, const PlannedObserver& observer,
                      const ObservedEdge& edge);
    void add(const Graph& graph, ObserverPlace place);

    using Key = std::tuple<ObserverPlace::Kind, NodeId, std::size_t>;
    std::vector<ObserverPlace> m_places;
    std::map<Key, ObserverId> m_at;
    std::unordered_set<NodeId> m_withOutput;
    std::unordered_map<ObserverId, NodeId> m_first;
    std::unordered_map<ValueRef, ObserverId> m_primary;
};

/// A value reference among a node's arguments.
struct InputRef
{
    ValueRef value;
    std::uint32_t argument = 0; ///< index into Node::args
};
/// The value references among a node's arguments in order, nested lists included. A document's
/// `inputs` has one entry for each.
std::vector<InputRef> inputRefs(const Node& node);

} // namespace qs
