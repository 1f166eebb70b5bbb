// SPDX-License-Identifier: Apache-2.0
#include "engine/edit/edit_draft.h"

#include "engine/base/json/nearest_name.h"
#include "engine/base/text.h"
#include "engine/edit/infer_types.h"
#include "engine/execute/op_table.h"
#include "engine/graph/graph_verifier.h"

#include <algorithm>

namespace qs {

tl::unexpected<Error> refuse(const std::string& why, std::string hint)
{
    return fail(makeError(ErrorCode::BadInput, why).withHint(std::move(hint)));
}

/// Positional arguments of a file get their schema names.
std::optional<std::size_t> valueNamed(const std::vector<NamedArgument>& arguments,
                                      std::string_view name)
{
    for (std::size_t i = 0; i < arguments.size(); ++i)
        if (arguments[i].name == name && arguments[i].value.asRef())
            return i;
    return std::nullopt;
}

std::vector<NamedArgument> namedArguments(const Node& node)
{
    std::vector<NamedArgument> out = node.args;
    const auto op = findOperator(node.target);
    for (std::size_t i = 0; op && i < out.size() && i < op->schema().arguments().size(); ++i)
        if (out[i].name.empty())
            out[i].name = op->schema().arguments()[i].name();
    return out;
}

EditDraft::EditDraft(GraphPtr model, Addresses& addresses, const JobContext& job)
    : m_model(std::move(model))
    , m_addresses(addresses)
    , m_job(job)
    , m_graph(*m_model)
{
}

Result<Graph> EditDraft::build() const
{
    Graph graph = m_graph.build();
    QS_CHECK(verifyGraph(graph));
    return graph;
}

Result<NodeId> EditDraft::node(const ValueAddress& address) const
{
    QS_TRY(const NodeId id, m_addresses.find(address));
    if (!m_graph.contains(id))
        return refuse(addressText(address) + " was removed by an earlier edit");
    return id;
}

Result<NodeId> EditDraft::operatorAt(const ValueAddress& address) const
{
    QS_TRY(const NodeId id, node(address));
    if (!m_graph.get(id).isOperator())
        return refuse(addressText(address) + " is not an operator");
    return id;
}

Result<ValueRef> EditDraft::value(const ValueAddress& address,
                                  std::optional<ValueRef> subject) const
{
    if (address.kind == ValueAddress::Kind::This) {
        if (subject)
            return *subject;
        return refuse("\"this\" is not valid here", "name a value");
    }
    QS_TRY(const NodeId id, node(address));
    const std::size_t count = m_graph.get(id).outputs.size();
    if (std::size_t(address.output) >= count)
        return refuse(addressText(address) + " gives " + counted(std::int64_t(count), "value"));
    return ValueRef {id, std::uint32_t(address.output)};
}

Result<EditDraft::Place> EditDraft::place(const ReaderAddress& reader) const
{
    if (reader.node.kind == ValueAddress::Kind::None) {
        const NodeId output = m_graph.order().back();
        const std::size_t count = m_graph.get(output).args.size();
        if (reader.item < 0 || std::size_t(reader.item) >= count)
            return refuse("the model has " + counted(std::int64_t(count), "output"));
        return Place {output, std::size_t(reader.item), -1};
    }
    QS_TRY(const NodeId id, operatorAt(reader.node));
    const Node& node = m_graph.get(id);
    const auto arguments = namedArguments(node);
    std::vector<std::string> names;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        names.push_back(arguments[i].name);
        if (arguments[i].name != reader.argument)
            continue;
        const auto* list = arguments[i].value.asList();
        if (!list && reader.item >= 0)
            return refuse("argument '" + reader.argument + "' of " + node.name + " is not a list");
        if (list && (reader.item < 0 || std::size_t(reader.item) >= list->size()))
            return refuse("argument '" + reader.argument + "' of " + node.name + " is a list of "
                              + counted(std::int64_t(list->size()), "item"),
                          "say which with 'item'");
        return Place {id, i, reader.item};
    }
    return refuse(node.name + " (" + node.target + ") has no argument '" + reader.argument + "'",
                  suggestName(reader.argument, names));
}

ValueRef EditDraft::readAt(const Place& place) const
{
    const Argument* argument = &m_graph.get(place.node).args.at(place.argument).value;
    if (place.item >= 0)
        argument = &argument->asList()->at(std::size_t(place.item));
    const ValueRef* ref = argument->asRef();
    return ref ? *ref : ValueRef();
}

void EditDraft::put(const Place& place, ValueRef value)
{
    std::vector<NamedArgument> args = m_graph.get(place.node).args;
    Argument* argument = &args.at(place.argument).value;
    if (place.item >= 0)
        argument = &std::get<Argument::List>(argument->value).at(std::size_t(place.item));
    *argument = Argument(value);
    m_graph.setArgs(place.node, std::move(args));
}

std::vector<EditDraft::Place> EditDraft::placesOf(ValueRef value) const
{
    std::vector<Place> places;
    for (const Use& use : m_graph.users(value)) {
        const Argument& argument = m_graph.get(use.node).args[use.argument].value;
        const auto* list = argument.asList();
        for (std::size_t i = 0; list && i < list->size(); ++i)
            if (const ValueRef* ref = (*list)[i].asRef(); ref && *ref == value)
                places.push_back({use.node, use.argument, int(i)});
        if (!list)
            places.push_back({use.node, use.argument, -1});
    }
    return places;
}

Result<std::vector<EditDraft::Place>>
EditDraft::placesFor(const std::vector<ReaderAddress>& readers, ValueRef value) const
{
    std::vector<Place> places;
    for (const ReaderAddress& reader : readers) {
        QS_TRY(const Place found, place(reader));
        if (readAt(found) != value)
            return refuse((reader.argument.empty()
                               ? "the model's output " + std::to_string(reader.item)
                               : m_graph.get(found.node).name + "." + reader.argument)
                          + " does not read that value");
        places.push_back(found);
    }
    return places;
}

Result<void> EditDraft::putInOrder(NodeId id)
{
    const std::vector<NodeId> order = m_graph.order();
    std::unordered_map<NodeId, std::size_t> at;
    for (std::size_t i = 0; i < order.size(); ++i)
        at[order[i]] = i;
    std::vector<std::size_t> late;
    std::vector<NodeId> open {id};
    std::unordered_set<NodeId> seen;
    while (!open.empty()) {
        const NodeId current = open.back();
        open.pop_back();
        bool loops = false;
        for (const NamedArgument& argument : m_graph.get(current).args)
            forEachRef(argument.value, [&](ValueRef ref) {
                loops = loops || ref.node == id;
                if (at.at(ref.node) > at.at(id) && seen.insert(ref.node).second) {
                    open.push_back(ref.node);
                    late.push_back(at.at(ref.node));
                }
            });
        if (loops)
            return refuse(m_graph.get(id).name + " would read what depends on itself",
                          "feed it from a value before it");
    }
    std::sort(late.begin(), late.end());
    for (const std::size_t position : late)
        m_graph.moveBefore(order[position], id);
    return {};
}

Scope EditDraft::outerScope(const Scope& scope) const
{
    Scope out = scope;
    const auto isLayer = [](const std::string& name) {
        const std::string word = lastPart(name);
        return (name.starts_with("torch.nn.") || name.starts_with("torch.ao.nn."))
            && word != "Sequential" && word != "ModuleList" && word != "ModuleDict";
    };
    const ModuleTree& modules = m_model->modules();
    while (!out.path.empty() && isLayer(out.moduleClass)) {
        out.path = ModuleTree::parentPath(out.path);
        const ModuleEntry* entry = modules.tryGet(out.path);
        out.moduleClass = entry ? entry->moduleClass : std::string();
        out.callIndex = 0;
    }
    return out;
}

Scope EditDraft::scopeAround(NodeId id) const
{
    return outerScope(m_graph.get(id).scope);
}

Result<NodeId> EditDraft::add(Node node, NodeId before)
{
    QS_TRY(const std::vector<ValueType> types, TypeInference(m_graph).outputsOf(node));
    node.outputs.clear();
    for (std::size_t i = 0; i < std::max<std::size_t>(types.size(), 1); ++i)
        node.outputs.push_back(
            {i == 0 ? node.name : "", i < types.size() ? types[i] : ValueType()});
    return m_graph.insert(std::move(node), before);
}

Result<void> EditDraft::spread(const std::vector<NodeId>& changed)
{
    TypeInference inference(m_graph);
    const std::unordered_set<NodeId> from(changed.begin(), changed.end());
    QS_CHECK(inference.spread(from, m_job));
    return inference.checkViews(from);
}

} // namespace qs
