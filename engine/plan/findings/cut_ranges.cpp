// SPDX-License-Identifier: Apache-2.0
#include "engine/plan/findings/cut_ranges.h"

#include "engine/base/text.h"
#include "engine/graph/argument_number.h"

#include <algorithm>
#include <map>

namespace qs {

namespace {

struct Interval
{
    double low = 0, high = 0;
    std::string cause; ///< "adds 1 to"; empty without arithmetic
};

/// The interval after arithmetic with a number; unchanged for any other operator.
Interval through(const Node& node, const OpName& name, Interval of)
{
    const auto other = numberOf(node.tryArg("other"));
    if (!other)
        return of;
    const double alpha = numberOf(node.tryArg("alpha")).value_or(1);
    double factor = 1, summand = 0;
    std::string cause;
    const bool subtracts = name.base == "sub", divides = name.base == "div" && *other != 0;
    if (subtracts || name.base == "add") {
        summand = (subtracts ? -1 : 1) * alpha * *other;
        cause = "adds " + numberText(summand, 4) + " to";
    } else if (name.base == "rsub") {
        factor = -alpha;
        summand = *other;
        cause = "subtracts from " + numberText(*other, 4);
    } else if (divides || name.base == "mul") {
        factor = divides ? 1 / *other : *other;
        cause = "multiplies by " + numberText(factor, 4);
    } else {
        return of;
    }
    Interval out {of.low * factor + summand, of.high * factor + summand, std::move(cause)};
    if (out.low > out.high)
        std::swap(out.low, out.high);
    return out;
}

std::string rangeText(double low, double high)
{
    return numberText(low, 3) + "…" + numberText(high, 3);
}

void report(const Node& node, const Node& source, const FixedRange& fixed, const Interval& made,
            Plan& plan, NodePlan& decided)
{
    const std::string name = inQuotes(node.name);
    const std::string cure = "keep " + name + " float: \"node\": [[\"" + node.name + "\", null]]";
    plan.findings.push_back(
        {node.id, "cut_range",
         name + " " + made.cause + " " + inQuotes(source.name) + " and shares its fixed range "
             + rangeText(fixed.low, fixed.high) + ": its results, " + rangeText(made.low, made.high)
             + ", are cut there in the reference form, which ONNX and PT2E exports compute; "
             + cure});
    if (decided.remedy.text.empty())
        decided.remedy = {cure, std::nullopt, true, std::nullopt};
}

} // namespace

FixedRange fixedRange(const ObserverSpec& spec)
{
    const QuantRange integers = quantRange(spec);
    return {double(integers.min - spec.zeroPoint) * spec.scale,
            double(integers.max - spec.zeroPoint) * spec.scale, spec.scale};
}

void findCutRanges(const Graph& graph, const OpNames& names, Plan& plan)
{
    for (const PlannedObserver& observer : plan.observers) {
        if (observer.spec.kind != ObserverKind::FixedQParams || observer.isWeight
            || observer.edges.size() < 2)
            continue;
        const FixedRange fixed = fixedRange(observer.spec);
        std::map<ValueRef, Interval> known;
        for (const ObservedEdge& edge : observer.edges) {
            const Node& node = graph.get(edge.value.node);
            const OpName& name = names[graph.position(node.id)];
            Interval made {fixed.low, fixed.high, {}};
            const Node* source = nullptr;
            for (const ValueRef read : activationInputs(graph, node, name))
                if (const auto found = known.find(read); !source && found != known.end()) {
                    source = &graph.get(read.node);
                    made = through(node, name, found->second);
                }
            const bool isCut = !made.cause.empty()
                && (made.low < fixed.low - fixed.step || made.high > fixed.high + fixed.step);
            if (source && isCut) {
                report(node, *source, fixed, made, plan, plan.nodes[graph.position(node.id)]);
                made = {fixed.low, fixed.high, {}};
            }
            made.cause.clear();
            known.emplace(edge.value, std::move(made));
        }
    }
}

} // namespace qs
