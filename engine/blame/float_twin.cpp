// SPDX-License-Identifier: Apache-2.0
#include "engine/blame/float_twin.h"

#include "engine/base/memory/free_later.h"
#include "engine/convert/given_numbers.h"
#include "engine/convert/quantize_weights.h"
#include "engine/graph/graph_edit.h"
#include "engine/graph/map_refs.h"
#include "engine/graph/operators/engine_ops.h"
#include "engine/graph/operators/quantized_target.h"
#include "engine/plan/summaries/group_root.h"
#include "engine/prepare/weighted_op.h"

#include <algorithm>
#include <array>
#include <optional>
#include <unordered_map>
#include <unordered_set>

namespace qs {

namespace {

bool multiplies(const Node& node)
{
    const OperatorFacts& facts = factsOf(node.target);
    switch (facts.family) {
    case OperatorFamily::Convolution:
    case OperatorFamily::TransposedConvolution:
    case OperatorFamily::Product:
    case OperatorFamily::Recurrent:
    case OperatorFamily::Attention:
        return true;
    default:
        return facts.weighted != OperatorWeight::No || node.isOp(kModuleTarget);
    }
}

/// Builds the twin of one reference form in one pass over its nodes.
class TwinBuilder
{
public:
    explicit TwinBuilder(const ConvertedModel& converted)
        : m_converted(converted)
        , m_reference(*converted.reference)
        , m_edit(makeFreedLater<GraphEdit>(m_reference))
    {
        for (const auto& [value, raw] : converted.rawValueOf)
            m_floatOf.try_emplace(raw, value);
        for (const auto& [observer, value] : converted.prepared->observedWeight)
            m_weightObservers[value].push_back(observer);
        for (const PlannedObserver& observer : converted.prepared->plan->observers)
            for (const ObservedEdge& edge : observer.edges)
                m_observers[edge.value].push_back({&observer, &edge});
    }

    Result<FloatTwin> build(const JobContext& job)
    {
        findStored();
        for (const NodePtr& node : m_reference.nodes()) {
            QS_CHECK(job.check());
            if (isDequantizeStep(node->target))
                replacePair(*node);
            else if (isOpened(*node))
                openModule(*node);
        }
        dropGivenNumbers(*m_edit, m_converted);
        m_edit->eraseDead();
        QS_CHECK(job.check());
        m_made.reference = m_converted.reference;
        m_made.graph = std::make_shared<const Graph>(m_edit->build());
        pairArguments(*m_made.graph);
        return std::move(m_made);
    }

private:
    struct Observed
    {
        const PlannedObserver* observer;
        const ObservedEdge* edge;
    };

    /// Finds nodes that depend only on stored tensors.
    void findStored()
    {
        for (const NodePtr& node : m_reference.nodes()) {
            bool stored = node->isStored() || node->kind == NodeKind::Op;
            for (const NamedArgument& argument : node->args)
                forEachRef(argument.value,
                           [&](ValueRef ref) { stored = stored && m_stored.contains(ref.node); });
            if (stored)
                m_stored.insert(node->id);
        }
    }

    /// Returns the value that a quantize-dequantize pair quantizes, in the reference form.
    std::optional<ValueRef> quantizedBy(const Node& dequantize) const
    {
        const ValueRef* integers = dequantize.args.at(0).value.asRef();
        if (!integers)
            return std::nullopt;
        const Node& quantize = m_reference.get(integers->node);
        if (isQuantizeStep(quantize.target))
            return *quantize.args.at(0).value.asRef();
        const auto rows = floatZeroPointWeight(*m_edit, {dequantize.id, 0});
        return rows ? std::optional(rows->source) : std::nullopt;
    }

    void replacePair(const Node& dequantize)
    {
        const auto raw = quantizedBy(dequantize);
        if (!raw)
            return;
        const ValueRef shown {dequantize.id, 0};
        if (m_stored.contains(raw->node)) {
            addWeight(shown, *raw);
            m_edit->replaceUses(shown, *raw);
            return;
        }
        for (const ReaderClass readers : kReaderClasses)
            addValue(dequantize, *raw, readers);
    }

    /// Appends the final consumers of a value, following operators that move or quantize it.
    void addEnds(const Node& reader, std::vector<const Node*>& found) const
    {
        if (!movesValues(reader.target) && !isReferenceStep(reader.target)) {
            found.push_back(&reader);
            return;
        }
        for (std::uint32_t i = 0; i < reader.outputs.size(); ++i)
            for (const Use& use : m_reference.users({reader.id, i}))
                addEnds(m_reference.get(use.node), found);
    }

    ReaderClass classOf(const Node& reader) const
    {
        std::vector<const Node*> ends;
        addEnds(reader, ends);
        if (std::any_of(ends.begin(), ends.end(), [](const Node* end) { return multiplies(*end); }))
            return ReaderClass::Multiplies;
        const bool leaves = std::all_of(ends.begin(), ends.end(), [](const Node* end) {
            return end->kind == NodeKind::Output;
        });
        return leaves ? ReaderClass::Output : ReaderClass::Other;
    }

    /// Returns the float model's node of a node of the reference form; invalid for the output and
    /// for nodes added by an edit or the conversion.
    NodeId floatNode(const Node& node) const
    {
        const Graph& model = *m_converted.prepared->model;
        if (node.kind == NodeKind::Output)
            return {};
        if (model.tryGet(node.id))
            return node.id;
        return node.origin && model.tryGet(node.origin) ? node.origin : NodeId {};
    }

    void addValue(const Node& dequantize, ValueRef raw, ReaderClass readers)
    {
        BlameSite site;
        site.readers = readers;
        std::vector<Use> uses;
        for (const Use& use : m_reference.users({dequantize.id, 0})) {
            const Node& reader = m_reference.get(use.node);
            if (classOf(reader) != readers)
                continue;
            uses.push_back(use);
            const NodeId at = floatNode(reader);
            if (at && (site.at.empty() || site.at.back() != at))
                site.at.push_back(at);
        }
        if (uses.empty())
            return;
        const auto known = m_floatOf.find(raw);
        site.value = known == m_floatOf.end() ? ValueRef {} : known->second;
        site.node = site.value ? site.value.node : floatNode(dequantize);
        site.observer = observerOf(site.value, site.at);

        const ValueRef integers = *dequantize.args.at(0).value.asRef();
        Node identity;
        identity.name = "site";
        identity.target = kObserveTarget;
        identity.args = {{"input", *m_edit->get(integers.node).args.at(0).value.asRef()}};
        identity.outputs.push_back({"", dequantize.outputs.at(0).type});
        identity.scope = dequantize.scope;
        identity.origin = dequantize.origin;
        identity.observer = site.observer;
        const NodeId id = m_edit->insertAfter(std::move(identity), dequantize.id);
        for (const Use& use : uses)
            m_edit->replaceArgument(use.node, use.argument, {dequantize.id, 0}, {id, 0});
        addPlace(std::move(site), {{0, {id, 0}, {dequantize.id, 0}, {{raw, {id, 0}}}}});
    }

    ObserverId observerOf(ValueRef value, const std::vector<NodeId>& readers) const
    {
        const auto found = m_observers.find(value);
        if (!value || found == m_observers.end())
            return {};
        // An observer for only these consumers comes first.
        for (const Observed& one : found->second)
            for (const Use& use : one.edge->readers)
                if (std::find(readers.begin(), readers.end(), use.node) != readers.end())
                    return one.observer->id;
        for (const Observed& one : found->second)
            if (one.edge->readers.empty())
                return one.observer->id;
        return found->second.front().observer->id;
    }

    /// Appends operators that read a stored value and another operand, following nodes that depend
    /// only on the value (`on`). Excludes weights of modules quantized inside: they belong to the
    /// interior.
    void addStoredReaders(ValueRef value, std::vector<const Node*>& found,
                          std::unordered_set<NodeId>& on) const
    {
        on.insert(value.node);
        for (const Use& use : m_reference.users(value)) {
            const Node& reader = m_reference.get(use.node);
            if (m_stored.contains(reader.id))
                for (std::uint32_t i = 0; i < reader.outputs.size(); ++i)
                    addStoredReaders({reader.id, i}, found, on);
            else if (reader.isOperator() && !isOpened(reader)
                     && std::find(found.begin(), found.end(), &reader) == found.end())
                found.push_back(&reader);
        }
    }

    void addWeight(ValueRef shown, ValueRef raw)
    {
        std::vector<const Node*> readers;
        std::unordered_set<NodeId> on;
        addStoredReaders(shown, readers, on);
        BlameSite site;
        site.kind = BlameSite::Kind::Weight;
        std::vector<NoisePlace> places;
        for (const Node* reader : readers) {
            if (m_converted.correctedBiases.contains(reader->id)) // part of the weight's noise
                on.insert(argumentRef(*reader, weightedOp(*reader)->bias).node);
            if (const NodeId at = floatNode(*reader))
                site.at.push_back(at);
            addOutputs(*reader, on, places);
        }
        if (site.at.empty() || places.empty())
            return;
        if (std::vector<NodeId> owners = ownersOf(shown, raw); !owners.empty())
            site.at = std::move(owners);
        site.node = site.at.front();
        const Node& stored = m_reference.get(raw.node);
        const bool isRounded = m_converted.roundedFrom.contains(raw);
        const NodeId origin
            = m_converted.prepared->model->tryGet(raw.node) ? raw.node : stored.origin;
        site.value = origin && m_converted.prepared->model->tryGet(origin) ? ValueRef {origin, 0}
                                                                           : ValueRef {};
        const auto observers
            = m_weightObservers.find(isRounded ? m_converted.roundedFrom.at(raw) : raw);
        if (observers != m_weightObservers.end())
            site.observer = observers->second.front();
        m_made.stored.push_back({m_made.sites.size(), isRounded ? ValueRef {} : raw, shown});
        addPlace(std::move(site), std::move(places));
    }

    /// True if the plan quantizes a computing node of the float model.
    bool isQuantized(NodeId id) const
    {
        const Graph& model = *m_converted.prepared->model;
        return id && isQuantizedIn(model, *m_converted.prepared->plan, id)
            && !movesValues(model.get(id).target);
    }

    /// Returns the operators for which the value is quantized. Operators may compute a value,
    /// positions for example, from stored tensors only; it is quantized for one of them, although
    /// its noise meets the data much later.
    std::vector<NodeId> ownersOf(ValueRef shown, ValueRef raw) const
    {
        std::vector<NodeId> owners;
        for (const Use& use : m_reference.users(shown)) {
            const Node& reader = m_reference.get(use.node);
            if (const NodeId at = floatNode(reader);
                m_stored.contains(reader.id) && isQuantized(at))
                owners.push_back(at);
        }
        const auto maker = m_floatOf.find(raw);
        if (owners.empty() && maker != m_floatOf.end() && isQuantized(maker->second.node))
            owners.push_back(maker->second.node);
        return owners;
    }

    /// Adds a place for each result of the operator, computed from float values of its operands
    /// except those in `on`, the path of a quantized weight: the noise arises inside it.
    void addOutputs(const Node& node, const std::unordered_set<NodeId>& on,
                    std::vector<NoisePlace>& places) const
    {
        std::vector<ValueRef> given;
        for (const NamedArgument& argument : node.args)
            forEachRef(argument.value, [&](ValueRef ref) {
                if (!on.contains(ref.node))
                    given.push_back(ref);
            });
        for (std::uint32_t i = 0; i < node.outputs.size(); ++i) {
            if (!node.outputs[i].type.mayBeFloat())
                continue;
            NoisePlace place {0, {node.id, i}, {node.id, i}, {}};
            for (const ValueRef& ref : given)
                place.given.emplace_back(ref, ref); // the twin's value is set at the end
            places.push_back(std::move(place));
        }
    }

    /// True for a module that the reference form quantizes inside.
    bool isOpened(const Node& node) const
    {
        const Node* inFloat
            = node.isOp(kModuleTarget) ? m_converted.prepared->graph->tryGet(node.id) : nullptr;
        return inFloat && inFloat->subgraphs != node.subgraphs;
    }

    void openModule(const Node& node)
    {
        m_edit->change(node.id).subgraphs = m_converted.prepared->graph->get(node.id).subgraphs;
        BlameSite site;
        site.kind = BlameSite::Kind::Interior;
        site.node = floatNode(node);
        site.at = {site.node};
        std::vector<NoisePlace> places;
        addOutputs(node, weightsOf(node), places);
        addPlace(std::move(site), std::move(places));
    }

    /// Returns the node's operands that are stored or depend only on stored tensors.
    std::unordered_set<NodeId> weightsOf(const Node& node) const
    {
        std::unordered_set<NodeId> stored;
        for (const NamedArgument& argument : node.args)
            forEachRef(argument.value, [&](ValueRef ref) {
                if (m_stored.contains(ref.node))
                    stored.insert(ref.node);
            });
        return stored;
    }

    void addPlace(BlameSite site, std::vector<NoisePlace> places)
    {
        for (NoisePlace& place : places) {
            place.site = m_made.sites.size();
            m_made.places.push_back(std::move(place));
        }
        m_made.sites.push_back(std::move(site));
    }

    /// Sets the twin's counterparts of the reference form's operands: an operator has the same
    /// arguments in both, with different references.
    void pairArguments(const Graph& twin)
    {
        for (NoisePlace& place : m_made.places) {
            if (place.at != place.noisy)
                continue;
            std::unordered_map<ValueRef, ValueRef> pairs;
            const Node& noisy = m_reference.get(place.noisy.node);
            const Node& clean = twin.get(place.at.node);
            std::vector<ValueRef> one, other;
            for (const NamedArgument& argument : noisy.args)
                forEachRef(argument.value, [&](ValueRef ref) { one.push_back(ref); });
            for (const NamedArgument& argument : clean.args)
                forEachRef(argument.value, [&](ValueRef ref) { other.push_back(ref); });
            for (std::size_t i = 0; i < one.size() && i < other.size(); ++i)
                pairs.try_emplace(one[i], other[i]);
            for (auto& [given, stand] : place.given)
                stand = pairs.at(given);
        }
    }

    const ConvertedModel& m_converted;
    const Graph& m_reference;
    FreedLater<GraphEdit> m_edit;
    FloatTwin m_made;
    std::unordered_set<NodeId> m_stored;
    std::unordered_map<ValueRef, ValueRef> m_floatOf; ///< keyed by value of the reference form
    std::unordered_map<ValueRef, std::vector<ObserverId>> m_weightObservers;
    /// Observers by value of the model.
    std::unordered_map<ValueRef, std::vector<Observed>> m_observers;
};

} // namespace

Result<FloatTwin> floatTwin(const ConvertedModel& converted, const JobContext& job)
{
    return TwinBuilder(converted).build(job);
}

} // namespace qs
