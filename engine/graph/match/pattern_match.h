// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph.h"
#include "engine/graph/match/graph_pattern.h"

#include <map>
#include <utility>

namespace qs {

/// Where a node reads a value, and the value.
using Inflow = std::pair<Use, ValueRef>;

/// A graph, or a draft of one, as patterns see it: which operators they may reach, under which
/// names, and what flows into them. Lives while it is matched against.
class PatternView
{
public:
    virtual ~PatternView() = default;
    /// Null for a node that no pattern may reach.
    virtual const Node* tryGet(NodeId id) const = 0;
    /// Whether the operator is what the pattern ends with, its inputs apart; as it is, one of its
    /// targets.
    virtual bool fits(const Node& node, const GraphPattern& pattern) const;
    /// What a pattern's unnamed arguments stand for, in order; as it is, every value that is read.
    virtual std::vector<Inflow> inputs(const Node& node, const GraphPattern& pattern) const;
    /// How many nodes read the node's results; who allows any number says 1.
    virtual std::size_t readers(NodeId /*id*/) const { return 1; }
};

/// What a pattern stands for where it fits.
struct PatternMatch
{
    std::vector<NodeId> nodes; ///< its operators, forward order
    /// By the names of the pattern that no operator of its own makes.
    std::map<std::string, Argument, std::less<>> values;
    std::vector<Use> open; ///< where values without a name are read
    /// The inner operator nearest to the end that others read as well; none where there is none.
    NodeId crowded;
    std::size_t readers = 0; ///< of it

    /// What the name stands for; null for nothing.
    const Argument* tryGet(std::string_view name) const;
    /// The same where it is of that alternative of `Argument`; else null.
    template<AlternativeOf<Argument::Variant> T>
    const T* tryGet(std::string_view name) const
    {
        const Argument* found = tryGet(name);
        return found ? std::get_if<T>(&found->value) : nullptr;
    }
    /// The arguments that an operator's pattern spells; those whose name stands for nothing are
    /// left out.
    std::vector<NamedArgument> arguments(const GraphPattern& of) const;
};

/// The pattern seen from the node that ends it: backwards, along arguments by name or along what
/// flows in, where that is as much as the pattern has. A value inside is the first of its operator.
/// That an inner value has other readers is noted, not refused.
std::optional<PatternMatch> matchPattern(const PatternView& view, const GraphPattern& pattern,
                                         NodeId last);

} // namespace qs
