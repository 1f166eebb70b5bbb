// SPDX-License-Identifier: Apache-2.0
// How a sweep resumes from cached results, how it hands its sums from rank to rank, and what it
// reports.
#include "engine/compare/sweep/sweep.h"
#include "engine/distribute/packed.h"

#include <algorithm>
#include <cmath>

namespace qs {

/// The key of all inputs of its four terms: x and y of the float graph; of the reference graph the
/// incoming values, whose keys hold their grid, and y^, whose key holds weights and quantization
/// parameters.
Key Sweep::unitKey(const Continuation& from, const CompareUnit& unit, const ValueKeys& floatKeys,
                   const ValueKeys& referenceKeys) const
{
    KeyBuilder key("unit");
    key.add(from.run)
        .add(std::int64_t(m_edited != nullptr))
        .add(std::int64_t(m_sampledOf.has_value()));
    key.add(std::int64_t(unit.quantized)).add(std::int64_t(unit.unchanged));
    for (const UnitInput& input : unit.inputs)
        key.add(floatKeys.of(input.value))
            .add(referenceKeys.of(input.came))
            .add(referenceKeys.of(input.raw));
    for (const UnitOutput& output : unit.outputs)
        key.add(floatKeys.of(output.value)).add(referenceKeys.of(output.reference));
    return key.key();
}

void Sweep::continueFrom(const Continuation& from, const ValueKeys& floatKeys,
                         const ValueKeys& referenceKeys, std::size_t budget)
{
    const Graph& graph = m_float.graph();
    std::size_t limit = graph.nodes().size();
    for (std::size_t i = 0; i < m_units.size(); ++i) {
        m_unitKeys.push_back(unitKey(from, m_units[i], floatKeys, referenceKeys));
        // What is measured inside a unit is not kept.
        const auto kept = m_interiors.has(m_units[i].last)
            ? nullptr
            : from.work.sums.find<CachedUnit>(m_unitKeys.back());
        m_known[i] = kept != nullptr;
        if (!kept) {
            limit = std::min(limit, graph.position(m_units[i].last));
            continue;
        }
        m_sums[i] = kept->sums;
        m_counts[i] = kept->counts;
        m_unmeasured[i] = kept->isUnmeasured;
        m_oddSince[i] = kept->oddSince;
        m_local[i] = kept->local;
    }
    if (!m_float.device().is_cpu()) // a GPU's memory is for running
        return;
    CutSide sides[] = {{m_float, floatKeys, {}, m_schedule.freeFloat},
                       {m_reference, referenceKeys, {}, m_schedule.freeReference}};
    const auto referenceNodes = m_reference.graph().nodes();
    std::size_t at = 0;
    for (std::size_t step = 0; step < graph.nodes().size(); ++step) {
        sides[0].runs.push_back({graph.nodes()[step]->id});
        sides[1].runs.emplace_back();
        for (; at < m_schedule.referenceEnd[step]; ++at)
            sides[1].runs.back().push_back(referenceNodes[at]->id);
    }
    m_cuts
        = std::make_unique<Cuts>(from, m_edited ? "sweep of the original" : "sweep", budget, sides);
    m_first = m_cuts->resume(limit);
}

void Sweep::keepSums(const Continuation& from) const
{
    for (std::size_t i = 0; i < m_units.size(); ++i)
        if (!m_known[i])
            from.work.sums.keep<CachedUnit>(
                m_unitKeys[i],
                std::make_shared<const CachedUnit>(CachedUnit {
                    m_sums[i], m_counts[i], m_unmeasured[i], m_oddSince[i], m_local[i]}),
                sizeof(CachedUnit) + m_unitKeys[i].size());
}

std::size_t Sweep::unitsToMeasure() const
{
    return std::size_t(std::count(m_known.begin(), m_known.end(), false));
}

const Node* Sweep::firstToRun() const
{
    const auto nodes = m_float.graph().nodes();
    const auto first
        = std::find_if(nodes.begin() + std::ptrdiff_t(m_first), nodes.end(), [&](const auto& node) {
              return node->isOperator() && !m_float.isConstant({node->id, 0});
          });
    return first == nodes.end() ? nullptr : first->get();
}

NodeError Sweep::errorOf(std::size_t unit) const
{
    const UnitSums& sums = m_sums[unit];
    NodeError error {m_units[unit].last,        {}, {}, {}, metricsFrom(sums.cumulative),
                     divergence(m_counts[unit])};
    if (m_edited)
        return error;
    const LocalSample& local = m_local[unit];
    const auto measured = [&](const ErrorSums& of, const TermSpread& spread) {
        auto metrics = metricsFrom(of);
        if (metrics && m_sampledOf && spread.batches > 0 && spread.batches < *m_sampledOf) {
            metrics->samples = local.samples;
            metrics->standardErrorDb = local.standardErrorDb(spread, *m_sampledOf);
        }
        return metrics;
    };
    error.isolated = measured(sums.isolated, local.isolated);
    error.inherited = measured(sums.inherited, local.inherited);
    error.bornHere = measured(sums.bornHere, local.bornHere);
    return error;
}

std::optional<Sweep::Odd> Sweep::firstOdd() const
{
    const auto first = std::find_if(m_oddSince.begin(), m_oddSince.end(),
                                    [](std::int64_t batch) { return batch > 0; });
    if (first == m_oddSince.end())
        return std::nullopt;
    const auto unit = std::size_t(first - m_oddSince.begin());
    const UnitSums& sums = m_sums[unit];
    const bool isOfConverted
        = !std::isfinite(sums.inherited.other2) || !std::isfinite(sums.cumulative.other2);
    return Odd {unit, *first, isOfConverted};
}

Result<void> Sweep::measureInTurn(std::size_t unit, const Frame& floatFrame, Frame& referenceFrame,
                                  std::span<const ValueRef> spent)
{
    if (!m_relay)
        return measure(unit, floatFrame, referenceFrame, spent);
    QS_TRY(const auto before, m_relay->take(unit, m_job));
    if (before)
        QS_CHECK(restore(unit, *before));
    QS_CHECK(measure(unit, floatFrame, referenceFrame, spent));
    return m_relay->pass(unit, packed(unit));
}

std::string Sweep::packed(std::size_t unit) const
{
    Packer out;
    out.add(m_sums[unit]).add(m_counts[unit]).add(m_local[unit]);
    out.add(bool(m_unmeasured[unit])).add(m_oddSince[unit]);
    const NodeId module = m_units[unit].last;
    if (m_interiors.has(module))
        out.add(m_interiors.packed(module));
    return out.take();
}

Result<void> Sweep::restore(std::size_t unit, const std::string& bytes)
{
    Unpacker in(bytes);
    bool isUnmeasured = false;
    in.get(m_sums[unit]).get(m_counts[unit]).get(m_local[unit]);
    in.get(isUnmeasured).get(m_oddSince[unit]);
    m_unmeasured[unit] = isUnmeasured;
    const NodeId module = m_units[unit].last;
    if (m_interiors.has(module)) {
        std::string interior;
        in.get(interior);
        QS_CHECK(in.check());
        QS_CHECK(m_interiors.restore(module, interior));
    }
    return in.check();
}

Result<void> Sweep::adopt(const Relay::States& states)
{
    for (const auto& [slot, bytes] : states)
        if (slot < m_units.size())
            QS_CHECK(restore(slot, bytes));
    return {};
}

} // namespace qs
