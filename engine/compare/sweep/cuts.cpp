// SPDX-License-Identifier: Apache-2.0
#include "engine/compare/sweep/cuts.h"

#include "engine/compare/sweep/kept_value.h"
#include "engine/graph/operators/quantized_target.h"

#include <algorithm>
#include <optional>
#include <unordered_set>

namespace qs {

namespace {

/// Most places at which a run may be cut. A change costs half a stretch between two on average.
constexpr std::size_t kMostPlaces = 16;

/// Number of elements by the file's sizes.
double elements(const ValueType& type)
{
    double count = 1;
    for (const Dim& dim : type.shape)
        count *= double(std::max<std::int64_t>(1, dim.size));
    return count;
}

/// A pair of quantize and dequantize may run as one, without integers between them.
bool isInsidePair(const Graph& graph, ValueRef ref)
{
    return isQuantizeStep(graph.get(ref.node).target);
}

} // namespace

CutSide nodeByNode(const Interpreter& interpreter, const ValueKeys& keys)
{
    CutSide side {interpreter, keys, {}, {}};
    const auto nodes = interpreter.graph().nodes();
    for (std::size_t position = 0; position < nodes.size(); ++position) {
        side.runs.push_back({nodes[position]->id});
        const auto dead = interpreter.deadAfter(position);
        side.freed.emplace_back(dead.begin(), dead.end());
    }
    return side;
}

Cuts::Cuts(const Continuation& from, const std::string& name, std::size_t budget,
           std::span<const CutSide> sides)
    : m_from(from)
    , m_name(name)
    , m_budget(budget)
{
    if (m_budget == 0 || m_from.batches == 0)
        return;
    choosePlaces(sides);
    fillLive(sides);
}

namespace {

bool isKeptNode(const CutSide& side, NodeId id)
{
    return side.interpreter.graph().get(id).isOperator() && !side.interpreter.isConstant({id, 0});
}

/// Calls `change(side, value, isMade)` for all values that a step makes and then for those that go.
template<class Change>
void walkStep(std::span<const CutSide> sides, std::size_t step, const Change& change)
{
    for (std::size_t s = 0; s < sides.size(); ++s) {
        const CutSide& side = sides[s];
        for (const NodeId id : side.runs[step])
            if (isKeptNode(side, id))
                for (std::uint32_t i = 0; i < side.interpreter.graph().get(id).outputs.size(); ++i)
                    change(s, ValueRef {id, i}, true);
        for (const ValueRef ref : side.freed[step])
            if (isKeptNode(side, ref.node))
                change(s, ref, false);
    }
}

} // namespace

/// In each of so many stretches of equal work the step at which least is alive, and the last step.
void Cuts::choosePlaces(std::span<const CutSide> sides)
{
    const std::size_t steps = sides.front().runs.size();
    std::vector<double> work(steps), alive(steps);
    std::vector<bool> fits(steps);
    double done = 0, held = 0;
    std::int64_t openPairs = 0;
    for (std::size_t step = 0; step < steps; ++step) {
        walkStep(sides, step, [&](std::size_t s, ValueRef ref, bool isMade) {
            const Graph& graph = sides[s].interpreter.graph();
            const int sign = isMade ? 1 : -1;
            held += sign * elements(graph.value(ref).type);
            openPairs += isInsidePair(graph, ref) ? sign : 0;
            done += isMade && ref.index == 0 ? 1 : 0;
        });
        work[step] = done;
        alive[step] = held;
        fits[step] = openPairs == 0;
    }
    m_allWork = done;
    const double stretch = done / double(kMostPlaces);
    std::optional<std::size_t> best;
    for (std::size_t step = 0; step + 1 < steps; ++step) {
        if (work[step] > 0 && fits[step] && (!best || alive[step] <= alive[*best]))
            best = step;
        if (best && work[step + 1] >= double(m_places.size() + 1) * stretch) {
            m_places.push_back({*best, work[*best], {}, 0, true});
            best.reset();
        }
    }
    if (steps > 0 && fits[steps - 1])
        m_places.push_back({steps - 1, done, {}, 0, true});
}

void Cuts::fillLive(std::span<const CutSide> sides)
{
    std::vector<std::unordered_set<ValueRef>> alive(sides.size());
    auto place = m_places.begin();
    for (std::size_t step = 0; place != m_places.end(); ++step) {
        walkStep(sides, step, [&](std::size_t s, ValueRef ref, bool isMade) {
            if (isMade)
                alive[s].insert(ref);
            else
                alive[s].erase(ref);
        });
        if (step != place->step)
            continue;
        for (std::size_t s = 0; s < sides.size(); ++s)
            for (const ValueRef ref : alive[s])
                place->live.push_back({s, ref, sides[s].keys.of(ref)});
        ++place;
    }
    std::erase_if(m_places, [](const Place& place) { return place.live.empty(); });
}

Key Cuts::keyOf(const LiveValue& value, std::int64_t batch) const
{
    return KeyBuilder("cut")
        .add(m_from.run)
        .add(m_name)
        .add(std::int64_t(value.side))
        .add(value.key)
        .add(batch)
        .key();
}

Cuts::Values Cuts::valuesAt(const Place& place, std::int64_t batch) const
{
    Values values;
    for (const LiveValue& live : place.live) {
        values.push_back(m_from.work.values.find<at::IValue>(keyOf(live, batch)));
        if (!values.back())
            return {};
    }
    return values;
}

std::size_t Cuts::resume(std::size_t limit)
{
    for (Place& place : m_places) { // those before the last one are looked at so that they stay
        if (place.step >= limit)
            break;
        std::vector<Values> given;
        for (std::int64_t batch = 0; batch < m_from.batches; ++batch) {
            Values values = valuesAt(place, batch);
            if (values.empty())
                break;
            given.push_back(std::move(values));
        }
        if (std::int64_t(given.size()) < m_from.batches)
            continue;
        for (std::size_t i = 0; i < place.live.size(); ++i)
            place.bytes += keptBytes(*given[0][i]).value_or(0);
        m_given = std::move(given);
        m_resumed = &place;
    }
    return m_resumed ? m_resumed->step + 1 : 0;
}

void Cuts::restore(std::span<Frame* const> frames) const
{
    if (!m_resumed)
        return;
    const Values& values = m_given[std::size_t(m_batch)];
    for (std::size_t i = 0; i < values.size(); ++i)
        frames[m_resumed->live[i].side]->set(m_resumed->live[i].ref, unshared(*values[i]));
}

void Cuts::reached(std::size_t step, std::span<Frame* const> frames)
{
    for (Place& place : m_places)
        if (place.step == step && place.isKept && m_batch < m_from.batches) {
            std::size_t bytes = 0;
            place.isKept = keep(place, frames, bytes);
            if (m_batch == 0)
                place.bytes = bytes;
        }
}

bool Cuts::keep(const Place& place, std::span<Frame* const> frames, std::size_t& bytes)
{
    for (const LiveValue& live : place.live) {
        const at::IValue* value = frames[live.side]->tryGet(live.ref);
        const auto size = value ? keptBytes(*value) : std::nullopt;
        if (!size)
            return false;
        bytes += *size;
        const Key key = keyOf(live, m_batch);
        if (!m_from.work.values.find<at::IValue>(key))
            m_from.work.values.keep<at::IValue>(
                key, std::make_shared<const at::IValue>(unshared(*value)),
                *size + sizeof(at::IValue) + key.size());
    }
    return true;
}

void Cuts::endBatch()
{
    if (m_batch == 0)
        dropPlaces();
    ++m_batch;
}

void Cuts::dropPlaces()
{
    std::vector<Place*> kept;
    std::size_t bytes = 0;
    for (Place& place : m_places)
        if (place.isKept && place.bytes > 0) {
            kept.push_back(&place);
            bytes += place.bytes * std::size_t(m_from.batches);
        }
    while (bytes > m_budget && !kept.empty()) {
        // Without a place a change between its neighbours costs the longer way from the one before.
        std::size_t worst = 0;
        double most = -1;
        for (std::size_t i = 0; i < kept.size(); ++i) {
            const double before = i > 0 ? kept[i - 1]->work : 0;
            const double after = i + 1 < kept.size() ? kept[i + 1]->work : m_allWork + 1;
            const double saved = (kept[i]->work - before) * (after - kept[i]->work);
            const double cost = double(kept[i]->bytes) / std::max(saved, 1e-9);
            if (cost > most) {
                most = cost;
                worst = i;
            }
        }
        bytes -= kept[worst]->bytes * std::size_t(m_from.batches);
        kept[worst]->isKept = false;
        for (const LiveValue& live : kept[worst]->live)
            if (kept[worst] != m_resumed)
                m_from.work.values.forget(keyOf(live, 0));
        kept.erase(kept.begin() + std::ptrdiff_t(worst));
    }
}

} // namespace qs
