// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/plan/plan.h"

#include <map>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace qs {

/// Where a document reports the quantization parameters of one observer (design 4): on the node
/// whose value it sees, on a consumer that quantizes an input otherwise, or as the weight of an
/// operator.
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
    NodeId node; ///< the node of the document that carries it
    std::size_t index = 0; ///< Output: which output; Input: which of the node's value references;
                           ///< Weight: which of its weights; Interior: which of the values inside
};

/// All places of a plan's observers. A value that only some readers observe is reported on its own
/// node as well, by its first observer, unless that node is quantized and its result float; other
/// observers of it stand on their readers.
class ObserverPlaces
{
public:
    ObserverPlaces(const Graph& graph, const Plan& plan);

    /// The observer at that place; none when there is none.
    ObserverId find(ObserverPlace::Kind kind, NodeId node, std::size_t index = 0) const;
    bool hasOutput(NodeId node) const;
    /// The first node in graph order that carries this observer.
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

/// The value references among a node's arguments, nested lists included, in order: what a
/// document's `inputs` counts.
struct InputRef
{
    ValueRef value;
    std::uint32_t argument = 0; ///< index into Node::args
};
std::vector<InputRef> inputRefs(const Node& node);

} // namespace qs
