// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph.h"
#include "engine/graph/match/graph_pattern.h"

#include <map>
#include <utility>

namespace qs {

/// The argument that reads a value, and the value.
using Inflow = std::pair<Use, ValueRef>;

/// View of a graph or a draft for pattern matching: the operators that patterns may match, their
/// names and inputs. Must outlive the match.
class PatternView
{
public:
    virtual ~PatternView() = default;
    /// Null for a node that patterns must not match.
    virtual const Node* tryGet(NodeId id) const = 0;
    /// True if the operator can be the last of the pattern, ignoring its inputs. Default: its
    /// target is one of the pattern's.
    virtual bool fits(const Node& node, const GraphPattern& pattern) const;
    /// The inputs that a pattern's unnamed arguments match, in order; by default all.
    virtual std::vector<Inflow> inputs(const Node& node, const GraphPattern& pattern) const;
    /// Number of nodes that read the node's results; return 1 to allow any number.
    virtual std::size_t readers(NodeId /*id*/) const { return 1; }
};

/// One match of a pattern: its operators and the bindings of its names.
struct PatternMatch
{
    std::vector<NodeId> nodes; ///< matched operators in forward order
    /// Bindings of the names that no operator of the pattern makes.
    std::map<std::string, Argument, std::less<>> values;
    std::vector<Use> open; ///< uses of values without a name
    /// The last inner operator whose result has a consumer outside the match; invalid if none has.
    NodeId crowded;
    std::size_t readers = 0; ///< number of consumers of `crowded`

    /// The binding of a name; null if it is unbound.
    const Argument* tryGet(std::string_view name) const;
    /// The binding as that alternative of `Argument`; null if unbound or of another type.
    template<AlternativeOf<Argument::Variant> T>
    const T* tryGet(std::string_view name) const
    {
        const Argument* found = tryGet(name);
        return found ? std::get_if<T>(&found->value) : nullptr;
    }
    /// Returns the arguments listed in an operator's pattern, except those whose name is unbound.
    std::vector<NamedArgument> arguments(const GraphPattern& of) const;
};

/// Matches the pattern backwards from its last node: along named arguments, or along all inputs if
/// their number equals the pattern's. An inner value must be the first output of its operator.
/// Other consumers of an inner value are reported (`crowded`) and do not prevent a match.
std::optional<PatternMatch> matchPattern(const PatternView& view, const GraphPattern& pattern,
                                         NodeId last);

} // namespace qs
