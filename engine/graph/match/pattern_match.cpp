// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/match/pattern_match.h"

#include "engine/graph/argument_number.h"

#include <algorithm>

namespace qs {

namespace {

bool isSame(const Argument& given, const Argument& wanted)
{
    const auto number = numberOf(&wanted);
    return number ? numberOf(&given) == number : given == wanted;
}

class PatternWalk
{
public:
    explicit PatternWalk(const PatternView& view)
        : m_view(view)
    {
    }

    bool operatorFits(NodeId id, const GraphPattern& pattern)
    {
        const Node* node = m_view.tryGet(id);
        if (!node || !m_view.fits(*node, pattern) || !inputsFit(*node, pattern))
            return false;
        m_found.nodes.push_back(id);
        if (!pattern.name.empty())
            m_made[pattern.name] = id;
        return true;
    }

    PatternMatch take() { return std::move(m_found); }

private:
    bool inputsFit(const Node& node, const GraphPattern& pattern)
    {
        const auto& wanted = pattern.inputs;
        if (wanted.empty())
            return true;
        if (!wanted.front().argument.empty())
            return std::all_of(wanted.begin(), wanted.end(), [&](const GraphPattern& input) {
                const Argument* given = node.tryArg(input.argument);
                return given ? valueFits(*given, input) : input.isOptional;
            });
        const std::vector<Inflow> inputs = m_view.inputs(node, pattern);
        if (inputs.size() != wanted.size())
            return false;
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            const auto& [use, value] = inputs[i];
            if (wanted[i].isOpen())
                m_found.open.push_back(use);
            if (!valueFits(Argument(value), wanted[i]))
                return false;
        }
        return true;
    }

    bool valueFits(const Argument& given, const GraphPattern& pattern)
    {
        if (pattern.constant)
            return isSame(given, *pattern.constant);
        if (pattern.targets.empty())
            return pattern.name.empty()
                || m_found.values.emplace(pattern.name, given).first->second == given;
        const ValueRef* ref = given.asRef();
        if (!ref || ref->index != 0)
            return false;
        if (const auto before = m_made.find(pattern.name); before != m_made.end())
            return before->second == ref->node;
        if (!operatorFits(ref->node, pattern))
            return false;
        if (const std::size_t readers = m_view.readers(ref->node); readers != 1) {
            m_found.crowded = ref->node;
            m_found.readers = readers;
        }
        return true;
    }

    const PatternView& m_view;
    PatternMatch m_found;
    std::map<std::string, NodeId> m_made; ///< by the pattern's names
};

} // namespace

bool PatternView::fits(const Node& node, const GraphPattern& pattern) const
{
    return node.kind == NodeKind::Op
        && std::find(pattern.targets.begin(), pattern.targets.end(), node.target)
        != pattern.targets.end();
}

std::vector<Inflow> PatternView::inputs(const Node& node, const GraphPattern& /*pattern*/) const
{
    std::vector<Inflow> found;
    for (std::uint32_t i = 0; i < node.args.size(); ++i)
        forEachRef(node.args[i].value, [&](ValueRef ref) {
            found.emplace_back(Use {node.id, i}, ref);
        });
    return found;
}

const Argument* PatternMatch::tryGet(std::string_view name) const
{
    const auto found = values.find(name);
    return found == values.end() ? nullptr : &found->second;
}

std::vector<NamedArgument> PatternMatch::arguments(const GraphPattern& of) const
{
    std::vector<NamedArgument> made;
    for (const GraphPattern& input : of.inputs)
        if (input.constant)
            made.push_back({input.argument, *input.constant});
        else if (const Argument* found = tryGet(input.name))
            made.push_back({input.argument, *found});
    return made;
}

std::optional<PatternMatch> matchPattern(const PatternView& view, const GraphPattern& pattern,
                                         NodeId last)
{
    PatternWalk walk(view);
    return walk.operatorFits(last, pattern) ? std::optional(walk.take()) : std::nullopt;
}

} // namespace qs
