// SPDX-License-Identifier: Apache-2.0
#include "engine/import/trained/fake_quantizers.h"

#include "engine/base/log.h"
#include "engine/base/torch_guard.h"
#include "engine/execute/tensor_store.h"
#include "engine/graph/given_observations.h"
#include "engine/graph/operators/fake_quantizers.h"
#include "engine/import/functionalize/alias_analysis.h"
#include "engine/import/functionalize/erase_unread.h"
#include "engine/import/trained/given_reader.h"
#include "engine/import/trained/qat_layers.h"

#include <algorithm>
#include <map>
#include <set>

namespace qs {

namespace {

/// Returns a fake quantizer: the node itself, or one in its bodies.
const Node* fakeQuantizerIn(const Node& node)
{
    if (isFakeQuantizer(node.target))
        return &node;
    for (const auto& body : node.subgraphs)
        for (const NodePtr& inner : body->nodes())
            if (const Node* found = fakeQuantizerIn(*inner))
                return found;
    return nullptr;
}

/// A call of a fake-quantize module, decomposed into several operators.
struct QuantizerCall
{
    std::vector<NodeId> nodes;
    std::string path; ///< of the module
};

class FakeQuantizerRemover
{
public:
    explicit FakeQuantizerRemover(const Graph& graph)
        : m_edit(graph)
        , m_store(tensorsOf(graph) ? tensorsOf(graph) : std::make_shared<TensorStore>())
    {
    }

    Result<GraphPtr> run()
    {
        for (const QuantizerCall& call : moduleCalls())
            QS_CHECK(takeCall(call));
        for (const NodeId id : m_edit.order()) {
            const Node* node = m_edit.tryGet(id);
            if (node && node->kind == NodeKind::Op && isFakeQuantizer(node->target))
                QS_CHECK(takeOperator(*node));
        }
        dropUpdates();
        restoreBatchNorms(m_edit);
        restoreClasses(m_edit);
        eraseUnread(m_edit);
        settleWeights();
        report();
        auto* held = dynamic_cast<HoldsGivenObservations*>(m_store.get());
        if (held)
            held->given = std::make_shared<const GivenObservations>(std::move(m_given));
        return std::make_shared<const Graph>(m_edit.build());
    }

private:
    std::vector<QuantizerCall> moduleCalls() const
    {
        std::map<std::pair<std::string, int>, QuantizerCall> calls;
        std::vector<std::pair<std::string, int>> order;
        std::string path;
        int number = 0;
        for (const NodeId id : m_edit.order()) {
            const Node& node = m_edit.get(id);
            if (!node.isOperator())
                continue;
            const Scope& scope = node.scope;
            if (scope.moduleClass.ends_with("FakeQuantize"))
                path = scope.path;
            else if (path.empty() || !ModuleTree::isWithin(scope.path, path) || scope.path == path)
                continue;
            const std::pair key(path, scope.path == path ? scope.callIndex : number);
            number = key.second;
            auto& call = calls[key];
            if (call.nodes.empty())
                order.push_back(key);
            call.path = path;
            call.nodes.push_back(id);
        }
        std::vector<QuantizerCall> found;
        for (const auto& key : order)
            if (calls[key].nodes.size() > 1)
                found.push_back(std::move(calls[key]));
        return found;
    }

    /// Replaces a call whose only activation input is the module's input and whose only result is
    /// its rounded value.
    Result<void> takeCall(const QuantizerCall& call)
    {
        const std::set<NodeId> inside(call.nodes.begin(), call.nodes.end());
        const Node* quantizer = nullptr;
        std::optional<ValueRef> in;
        std::set<ValueRef> out;
        for (const NodeId id : call.nodes) {
            const Node& node = m_edit.get(id);
            const Node* here = fakeQuantizerIn(node);
            quantizer = quantizer ? quantizer : here;
            for (const NamedArgument& argument : node.args)
                forEachRef(argument.value, [&](ValueRef ref) {
                    if (!in && !inside.contains(ref.node) && !isOwn(ref, call.path))
                        in = ref;
                });
            for (std::uint32_t i = 0; i < node.outputs.size(); ++i)
                for (const Use& use : m_edit.users({id, i}))
                    if (!inside.contains(use.node))
                        out.insert({id, i});
        }
        if (!quantizer || !in || out.size() != 1)
            return {};
        QS_CHECK(give(*quantizer, *in, *out.begin(), {call.path, call.nodes}));
        m_edit.replaceUses(*out.begin(), *in);
        for (auto it = call.nodes.rbegin(); it != call.nodes.rend(); ++it)
            m_edit.erase(*it);
        return {};
    }

    bool isOwn(ValueRef ref, const std::string& path) const
    {
        const Node& node = m_edit.get(ref.node);
        return node.isStored() && ModuleTree::isWithin(node.target, path);
    }

    Result<void> takeOperator(const Node& node)
    {
        const Argument* self = node.tryArg(std::size_t(0));
        if (!self || !self->asRef())
            return {};
        const NodeId id = node.id;
        const ValueRef in = *self->asRef();
        QS_CHECK(give(node, in, {id, 0}, {modulePath(node), {}}));
        m_edit.replaceUses({id, 0}, in);
        for (std::uint32_t i = 1; i < m_edit.get(id).outputs.size(); ++i)
            for (const Use& use : m_edit.users({id, i}))
                if (m_edit.contains(use.node) && !hasAnyReader(use.node))
                    m_edit.erase(use.node); // a state update
        if (!hasAnyReader(id))
            m_edit.erase(id);
        return {};
    }

    bool hasAnyReader(NodeId id) const
    {
        for (std::uint32_t i = 0; i < m_edit.get(id).outputs.size(); ++i)
            if (!m_edit.users({id, i}).empty())
                return true;
        return false;
    }

    /// Returns the path of the module whose scale the node reads.
    std::string modulePath(const Node& node) const
    {
        const Argument* scale = node.tryArg("scale");
        const ValueRef* ref = scale ? scale->asRef() : nullptr;
        const Node* stored = ref ? m_edit.tryGet(ref->node) : nullptr;
        return stored && stored->isStored() ? ModuleTree::parentPath(stored->target)
                                            : std::string();
    }

    Result<void> give(const Node& node, ValueRef in, ValueRef out, FakeQuantizerPlace place)
    {
        ++m_found;
        QS_TRY(auto one, readGiven(m_edit, *m_store, node, in, place));
        if (!one)
            return {};
        for (const Use& use : m_edit.users(out))
            one->readers.push_back(use.node);
        one->isSecond = !m_seen.insert(in).second;
        m_given.push_back(std::move(*one));
        return {};
    }

    /// Assigns ranges of removed products (weight times batch norm factor) to the layers' own
    /// weights.
    void settleWeights()
    {
        for (GivenObservation& one : m_given) {
            if (!one.isWeight || m_edit.contains(one.value.node))
                continue;
            for (const NodeId reader : one.readers) {
                const Node* layer = m_edit.tryGet(reader);
                const Argument* weight = layer ? layer->tryArg("weight") : nullptr;
                if (weight && weight->asRef())
                    one.value = *weight->asRef();
            }
        }
    }

    /// Removes updates of batch norms' counters of training batches.
    void dropUpdates()
    {
        const auto order = m_edit.order();
        for (auto it = order.rbegin(); it != order.rend(); ++it) {
            const Node& node = m_edit.get(*it);
            if (node.kind != NodeKind::Op || hasAnyReader(node.id) || node.args.empty())
                continue;
            const ValueRef* self = node.args[0].value.asRef();
            const Node* state = self ? m_edit.tryGet(self->node) : nullptr;
            if (state && state->isStored() && !writtenArguments(node).empty()
                && state->target.ends_with("num_batches_tracked"))
                m_edit.erase(*it);
        }
    }

    void report() const
    {
        const auto weights = std::count_if(m_given.begin(), m_given.end(),
                                           [](const auto& one) { return one.isWeight; });
        const auto values = std::ptrdiff_t(m_given.size()) - weights;
        std::string text
            = "the file was trained with simulated quantization: " + std::to_string(m_found)
            + " fake quantizers removed; the ranges of " + std::to_string(values) + " values and "
            + std::to_string(weights) + " weights are taken from them";
        if (const auto without = m_found - std::ptrdiff_t(m_given.size()); without > 0)
            text += "; " + std::to_string(without) + " never observed a value";
        note(text);
    }

    GraphEdit m_edit;
    std::shared_ptr<TensorStore> m_store;
    GivenObservations m_given;
    std::set<ValueRef> m_seen;
    std::ptrdiff_t m_found = 0;
};

} // namespace

Result<GraphPtr> withoutFakeQuantizers(const GraphPtr& graph)
{
    const auto nodes = graph->nodes();
    if (std::none_of(nodes.begin(), nodes.end(),
                     [](const NodePtr& node) { return fakeQuantizerIn(*node) != nullptr; }))
        return graph;
    return guardTorchValue<GraphPtr>([&] { return FakeQuantizerRemover(*graph).run(); });
}

} // namespace qs
