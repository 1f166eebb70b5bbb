// SPDX-License-Identifier: Apache-2.0
#include "engine/custom_modules/attention/quantizable_attention.h"

#include "engine/base/log.h"
#include "engine/base/text.h"
#include "engine/base/torch_guard.h"
#include "engine/execute/interpreter.h"
#include "engine/execute/replaced_tensors.h"
#include "engine/execute/tensor_store.h"
#include "engine/graph/graph_edit.h"
#include "engine/graph/graph_verifier.h"
#include "engine/graph/operators/common_targets.h"
#include "engine/graph/operators/operators.h"

#include <ATen/core/Tensor.h>

#include <algorithm>
#include <map>

namespace qs {

namespace {

constexpr const char* kLinearClass = "torch.nn.Linear";
constexpr std::size_t kProjections = 3; ///< query, key, value

/// One linear of the module and the projections that it computes together.
struct Projection
{
    NodeId linear;
    std::vector<NodeId> parts; ///< the selections of the projections; empty if there is only one
    std::size_t count() const { return parts.empty() ? 1 : parts.size(); }
};

/// One call of one attention module.
struct AttentionCall
{
    std::string path;
    int call = 0;
    std::vector<NodeId> linears; ///< in graph order
};

std::vector<AttentionCall> attentionCalls(const Graph& graph)
{
    std::map<std::pair<std::string, int>, AttentionCall> calls;
    for (const NodePtr& node : graph.nodes())
        if (node->isOperator() && node->scope.moduleClass == kAttentionClass) {
            AttentionCall& call = calls[{node->scope.path, node->scope.callIndex}];
            call.path = node->scope.path;
            call.call = node->scope.callIndex;
            if (node->isOp(kLinearTarget))
                call.linears.push_back(node->id);
        }
    std::vector<AttentionCall> out;
    for (auto& [key, call] : calls)
        out.push_back(std::move(call));
    return out;
}

/// True for operators between a packed projection and the selections of its parts, and for those
/// that split its parameters.
bool isLayout(const Node& node)
{
    return movesValues(node.target) || node.isOp("aten.unflatten.int") || node.isOp(kChunkTarget)
        || node.target.starts_with("aten.split");
}

class AttentionWriter
{
public:
    AttentionWriter(GraphEdit& edit, const Interpreter& stored)
        : m_edit(edit)
        , m_stored(stored)
    {
        for (const NodeId id : edit.order())
            if (edit.get(id).isOperator()) {
                m_firstOperator = id;
                break;
            }
    }

    /// Rewrites the call. Returns "", or why it cannot be rewritten.
    Result<std::string> write(const AttentionCall& call)
    {
        if (call.linears.empty())
            return std::string("its projections are not linear layers in this file");
        std::vector<Projection> projections;
        std::size_t count = 0;
        const std::vector<NodeId> inside(call.linears.begin(), call.linears.end() - 1);
        for (const NodeId id : inside) {
            projections.push_back({id, partsOf(id)});
            count += projections.back().count();
        }
        if (count != kProjections)
            return "it has " + counted(std::int64_t(count), "projection")
                + " before its last linear layer, not three";
        std::size_t next = 0;
        static constexpr const char* kNames[kProjections] {"linear_Q", "linear_K", "linear_V"};
        for (const Projection& projection : projections) {
            for (std::size_t part = 0; part < projection.count(); ++part)
                QS_CHECK(writeOne(call, projection, part, kNames[next++]));
            if (!projection.parts.empty())
                eraseUnread(projection);
        }
        const NodeId last = call.linears.back();
        m_edit.change(last).scope = scopeOf(call, "out_proj");
        return std::string();
    }

private:
    Scope scopeOf(const AttentionCall& call, const std::string& layer)
    {
        const std::string path = (call.path.empty() ? "" : call.path + ".") + layer;
        m_edit.modules().add(path, kLinearClass);
        return {path, kLinearClass, call.call};
    }

    /// Returns the selections of a packed projection's result, in order, following operators that
    /// only move it; empty if it is not packed.
    std::vector<NodeId> partsOf(NodeId linear) const
    {
        NodeId at = linear;
        for (;;) {
            const auto users = m_edit.users({at, 0});
            std::map<std::int64_t, NodeId> parts;
            for (const Use& use : users)
                if (const Node& reader = m_edit.get(use.node); reader.isOp(kSelectTarget))
                    if (const Argument* index = reader.tryArg("index"); index && index->asInt())
                        parts[*index->asInt()] = use.node;
            if (!parts.empty() && parts.size() == users.size() && parts.size() <= kProjections
                && parts.begin()->first == 0
                && parts.rbegin()->first == std::int64_t(parts.size()) - 1) {
                std::vector<NodeId> found;
                for (const auto& [index, id] : parts)
                    found.push_back(id);
                return found;
            }
            if (users.size() != 1 || !isLayout(m_edit.get(users.front().node)))
                return {};
            at = users.front().node;
        }
    }

    /// Returns a parameter of the layer: the linear's stored parameter, or its rows.
    Result<Argument> parameter(const Node& linear, const char* name, const Scope& scope,
                               std::size_t part, std::size_t parts)
    {
        const Argument* given = linear.tryArg(name);
        const ValueRef* ref = given ? given->asRef() : nullptr;
        if (!ref)
            return Argument();
        if (parts == 1 && m_edit.get(ref->node).isStored())
            return Argument(*ref);
        const std::string path = scope.path + "." + name;
        if (const auto known = m_made.find(path); known != m_made.end())
            return Argument(known->second);
        if (!m_stored.isConstant(*ref))
            return fail(
                makeError(ErrorCode::Unsupported, "its weights are computed").atNode(linear.name));
        QS_TRY(const at::IValue value, m_stored.computeConstant(*ref));
        QS_TRY(const at::Tensor rows, guardTorchValue<at::Tensor>([&] {
                   return Result<at::Tensor>(
                       value.toTensor().chunk(std::int64_t(parts), 0).at(part).clone());
               }));
        Node made;
        made.kind = NodeKind::Parameter;
        made.target = path;
        made.name = "p_" + path;
        std::replace(made.name.begin(), made.name.end(), '.', '_');
        made.tensor = tensorsOf(m_edit)->add(rows);
        made.tensorSha256 = replacedTensorsBelow(m_edit, {*ref});
        ValueType type = m_edit.get(ref->node).outputs.at(ref->index).type;
        type.shapeKnown = true;
        type.shape.clear();
        for (const std::int64_t size : rows.sizes())
            type.shape.push_back(Dim::fixed(size));
        made.outputs.push_back({"", std::move(type)});
        m_edit.modules().addParameter(path);
        const ValueRef stored {m_edit.insert(std::move(made), m_firstOperator), 0};
        m_made[path] = stored;
        return Argument(stored);
    }

    Result<void> writeOne(const AttentionCall& call, const Projection& projection, std::size_t part,
                          const char* layer)
    {
        const Node packed = m_edit.get(projection.linear);
        Node node;
        node.name = layer;
        node.target = packed.target;
        node.scope = scopeOf(call, layer);
        node.source = packed.source;
        node.torchFn = packed.torchFn;
        const std::size_t parts = projection.count();
        QS_TRY(Argument weight, parameter(packed, "weight", node.scope, part, parts));
        QS_TRY(Argument bias, parameter(packed, "bias", node.scope, part, parts));
        node.args = {{"input", *packed.tryArg("input")}, {"weight", std::move(weight)}};
        if (!bias.isNone())
            node.args.push_back({"bias", std::move(bias)});
        const NodeId replaced = parts == 1 ? projection.linear : projection.parts[part];
        node.outputs.push_back({"", m_edit.get(replaced).outputs.at(0).type});
        const NodeId id = m_edit.insert(std::move(node), projection.linear);
        if (projection.linear == m_firstOperator) // which will be erased
            m_firstOperator = id;
        m_edit.replaceUses({replaced, 0}, {id, 0});
        m_edit.erase(replaced);
        return {};
    }

    /// Erases the packed linear and the operators between it and the selections.
    void eraseUnread(const Projection& projection)
    {
        std::vector<NodeId> chain {projection.linear};
        for (;;) {
            const auto users = m_edit.users({chain.back(), 0});
            if (users.empty())
                break;
            chain.push_back(users.front().node);
        }
        for (auto id = chain.rbegin(); id != chain.rend(); ++id)
            m_edit.erase(*id);
    }

    GraphEdit& m_edit;
    const Interpreter& m_stored;
    NodeId m_firstOperator;
    std::map<std::string, ValueRef> m_made; ///< parameters by path
};

/// Erases stored tensors, and values derived from them, that only the packed projections read.
void eraseParameters(GraphEdit& edit)
{
    bool erased = true;
    while (erased) {
        erased = false;
        const std::vector<NodeId> order = edit.order();
        for (auto id = order.rbegin(); id != order.rend(); ++id) {
            const Node& node = edit.get(*id);
            const bool isPacked = node.isStored()
                ? lastPart(node.target).starts_with("in_proj_")
                : node.scope.moduleClass == kAttentionClass && isLayout(node);
            bool isRead = !isPacked;
            for (std::uint32_t i = 0; isPacked && i < node.outputs.size(); ++i)
                isRead = isRead || !edit.users({*id, i}).empty();
            if (!isRead) {
                edit.erase(*id);
                erased = true;
            }
        }
    }
}

} // namespace

Result<GraphPtr> makeAttentionQuantizable(GraphPtr graph)
{
    const std::vector<AttentionCall> calls = attentionCalls(*graph);
    if (calls.empty())
        return graph;
    const InferenceScope scope;
    QS_TRY(const Interpreter stored, Interpreter::create(graph));
    GraphEdit edit(*graph);
    edit.setTensors(TensorStore::over(tensorsOf(*graph)));
    AttentionWriter writer(edit, stored);
    for (const AttentionCall& call : calls) {
        QS_TRY(const std::string why, writer.write(call));
        if (!why.empty())
            warn("attention " + inQuotes(call.path) + " stays as it is: " + why);
    }
    eraseParameters(edit);
    ModelInfo info = graph->info();
    info.edits += "quantizable attention";
    edit.setInfo(std::move(info));
    auto written = std::make_shared<const Graph>(edit.build());
    QS_CHECK(verifyGraph(*written));
    return written;
}

} // namespace qs
