// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph.h"
#include "engine/graph/match/graph_pattern.h"

#include <map>
#include <utility>

namespace qs {

/// The argument that reads a value, and the value.
using Inflow = std::pair<Use, ValueRef>;

/// A graph, or a draft of one, as patterns see it: the operators that they may reach, their names
/// and their inputs. Must live until the match is done.
class PatternView
{
public:
    virtual ~PatternView() = default;
    /// Null for a node that patterns may not reach.
    virtual const Node* tryGet(NodeId id) const = 0;
    /// Whether the operator can be the last of the pattern, inputs not considered; by default,
    /// whether its target is one of the pattern's.
    virtual bool fits(const Node& node, const GraphPattern& pattern) const;
    /// The inputs that a pattern's unnamed arguments match, in order; by default all.
    virtual std::vector<Inflow> inputs(const Node& node, const GraphPattern& pattern) const;
    /// Number of nodes that read the node's results; return 1 to allow any number.
    virtual std::size_t readers(NodeId /*id*/) const { return 1; }
};

/// One match of a pattern: its operators and the bindings of its names.
struct PatternMatch
{
    std::vector<NodeId> nodes; ///< its operators, forward order
    /// Bindings of the names that no operator of the pattern makes.
    std::map<std::string, Argument, std::less<>> values;
    std::vector<Use> open; ///< where values without a name are read
    /// The last inner operator with a reader outside the match; invalid without one.
    NodeId crowded;
    std::size_t readers = 0; ///< of it

    /// The binding of a name; null if it is unbound.
    const Argument* tryGet(std::string_view name) const;
    /// The same if it holds that alternative of `Argument`; else null.
    template<AlternativeOf<Argument::Variant> T>
    const T* tryGet(std::string_view name) const
    {
        const Argument* found = tryGet(name);
        return found ? std::get_if<T>(&found->value) : nullptr;
    }
    /// The arguments that an operator's pattern spells, without those whose name is
    /// unbound.
    std::vector<NamedArgument> arguments(const GraphPattern& of) const;
};

/// Matches the pattern backwards from its last node: along named arguments, or along all inputs if
/// their number is the pattern's. An inner value must be the first output of its operator. Other
/// readers of an inner value are noted (`crowded`), not refused.
std::optional<PatternMatch> matchPattern(const PatternView& view, const GraphPattern& pattern,
                                         NodeId last);

} // namespace qs
