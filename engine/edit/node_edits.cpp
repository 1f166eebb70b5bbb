// SPDX-License-Identifier: Apache-2.0
#include "engine/base/json/nearest_name.h"
#include "engine/base/text.h"
#include "engine/configure/json/edit_step_json.h"
#include "engine/edit/edit_functions.h"
#include "engine/edit/infer_types.h"
#include "engine/edit/typed_arguments.h"
#include "engine/graph/operators/effects.h"

#include <algorithm>
#include <cctype>

namespace qs {

namespace {

/// Checks that a name is a Python identifier.
Result<void> checkName(const std::string& name)
{
    const auto isWord = [](unsigned char c) { return std::isalnum(c) || c == '_'; };
    if (!name.empty() && !std::isdigit(static_cast<unsigned char>(name[0]))
        && std::all_of(name.begin(), name.end(), isWord))
        return {};
    return refuse(inQuotes(name) + " is not a name for an operator",
                  "letters, digits and underscores, no digit first");
}

std::optional<ValueRef> firstRead(const Node& node)
{
    std::optional<ValueRef> first;
    for (const NamedArgument& argument : node.args)
        forEachRef(argument.value, [&](ValueRef ref) {
            if (!first)
                first = ref;
        });
    return first;
}

} // namespace

Result<EditedNodes> insertOperator(EditDraft& draft, const EditStep& step)
{
    QS_CHECK(checkName(step.name));
    QS_TRY(const ValueRef subject, draft.value(step.at));
    std::vector<EditDraft::Place> places;
    if (step.readers.empty())
        places = draft.placesOf(subject);
    else if (!isNobody(step.readers)) {
        QS_TRY(places, draft.placesFor(step.readers, subject));
    }
    if (places.empty() && !isNobody(step.readers))
        return refuse("nothing reads " + addressText(step.at));
    const FindValue find
        = [&](const ValueAddress& address) { return draft.value(address, subject); };
    Node made;
    made.target = step.op;
    made.name = step.name;
    QS_TRY(made.args, typedArguments(step.op, step.json, {}, subject, find));
    const std::vector<NodeId> order = draft.graph().order();
    const auto madeAt = std::find(order.begin(), order.end(), subject.node);
    const auto first = std::find_if(madeAt + 1, order.end(), [&](NodeId id) {
        if (places.empty())
            return draft.graph().get(id).isOperator() || id == order.back();
        return std::any_of(places.begin(), places.end(),
                           [&](const EditDraft::Place& p) { return p.node == id; });
    });
    const Node& maker = draft.graph().get(subject.node);
    made.scope = draft.scopeAround(maker.isOperator() ? maker.id : *first);
    QS_TRY(const NodeId id, draft.add(std::move(made), *first));
    EditedNodes readers;
    for (const EditDraft::Place& reader : places) {
        draft.put(reader, {id, 0});
        readers.push_back(reader.node);
    }
    QS_CHECK(draft.putInOrder(id));
    QS_CHECK(draft.addresses().add(step.name, id));
    QS_CHECK(draft.spread(readers));
    return EditedNodes {id};
}

Result<EditedNodes> removeOperator(EditDraft& draft, const EditStep& step)
{
    QS_TRY(const NodeId id, draft.operatorAt(step.at));
    const Node& gone = draft.graph().get(id);
    if (hasEffect(gone))
        return refuse(gone.name
                      + " updates the model's state or raises: it is needed although "
                        "nothing reads it");
    std::optional<ValueRef> instead = firstRead(gone);
    if (!step.argument.empty()) {
        const auto arguments = namedArguments(gone);
        const auto it = std::find_if(arguments.begin(), arguments.end(),
                                     [&](const auto& a) { return a.name == step.argument; });
        const ValueRef* ref = it == arguments.end() ? nullptr : it->value.asRef();
        if (!ref)
            return refuse(gone.name + " reads no value as its '" + step.argument + "'");
        instead = *ref;
    }
    for (std::uint32_t i = 1; i < gone.outputs.size(); ++i)
        if (!draft.graph().users({id, i}).empty())
            return refuse(gone.name + " gives several values that are read",
                          "connect the readers of all but the first to other values first");
    EditedNodes readers;
    for (const Use& use : draft.graph().users({id, 0}))
        readers.push_back(use.node);
    if (!readers.empty() && !instead)
        return refuse(gone.name + " reads no value that could take its place",
                      "connect its readers to other values first");
    if (instead)
        draft.graph().replaceUses({id, 0}, *instead);
    draft.graph().erase(id);
    draft.graph().eraseDead();
    QS_CHECK(draft.spread(readers));
    return readers;
}

namespace {

Result<void> replaceNode(EditDraft& draft, const EditStep& step, NodeId id)
{
    const Node before = draft.graph().get(id);
    const std::optional<ValueRef> subject = firstRead(before);
    const FindValue find
        = [&](const ValueAddress& address) { return draft.value(address, subject); };
    QS_TRY(std::vector<NamedArgument> args,
           typedArguments(step.op, step.json, namedArguments(before), subject, find));
    draft.graph().setArgs(id, std::move(args));
    Node& now = draft.graph().change(id);
    now.target = step.op;
    now.scope = draft.outerScope(before.scope); // it is not its layer's operator any more
    now.kind = NodeKind::Op;
    now.originalTarget.clear();
    now.torchFn.clear();
    now.opaqueReason.clear();
    now.subgraphs.clear();
    now.argumentStrings.clear();
    QS_TRY(const std::vector<ValueType> types, TypeInference(draft.graph()).outputsOf(now));
    const std::size_t count = std::max<std::size_t>(types.size(), 1);
    for (std::uint32_t i = std::uint32_t(count); i < before.outputs.size(); ++i)
        if (!draft.graph().users({id, i}).empty())
            return refuse(step.op + " gives " + counted(std::int64_t(count), "value") + ", "
                          + before.name + " has readers of its value " + std::to_string(i));
    for (std::size_t i = now.outputs.size(); i < count; ++i)
        now.outputs.push_back({draft.graph().uniqueName(now.name + "_" + std::to_string(i)), {}});
    now.outputs.resize(count);
    QS_CHECK(draft.putInOrder(id));
    draft.graph().eraseDead();
    return draft.spread({id});
}

} // namespace

Result<EditedNodes> replaceOperator(EditDraft& draft, const EditStep& step)
{
    QS_TRY(const NodeId id, draft.operatorAt(step.at));
    QS_CHECK(replaceNode(draft, step, id));
    return EditedNodes {id};
}

Result<EditedNodes> replaceEvery(EditDraft& draft, const EditStep& step)
{
    EditedNodes found;
    std::vector<std::string> targets;
    for (const NodeId id : draft.graph().order()) {
        const Node& node = draft.graph().get(id);
        if (!node.isOperator() || !ModuleTree::isWithin(node.scope.path, step.within))
            continue;
        targets.push_back(node.target);
        if (node.target == step.every)
            found.push_back(id);
    }
    if (found.empty())
        return refuse((step.within.empty() ? "the model" : inQuotes(step.within))
                          + " has no operator " + step.every,
                      targets.empty() ? "" : suggestName(step.every, targets, 6));
    for (const NodeId id : found)
        QS_CHECK(replaceNode(draft, step, id));
    return found;
}

Result<EditedNodes> setArguments(EditDraft& draft, const EditStep& step)
{
    QS_TRY(const NodeId id, draft.operatorAt(step.at));
    const Node& before = draft.graph().get(id);
    const FindValue find = [&draft](const ValueAddress& address) { return draft.value(address); };
    QS_TRY(std::vector<NamedArgument> args,
           typedArguments(before.target, step.json, namedArguments(before), {}, find));
    draft.graph().setArgs(id, std::move(args));
    QS_CHECK(draft.putInOrder(id));
    draft.graph().eraseDead();
    QS_CHECK(draft.spread({id}));
    return EditedNodes {id};
}

Result<EditedNodes> rewire(EditDraft& draft, const EditStep& step)
{
    QS_TRY(const EditDraft::Place where, draft.place({step.at, step.argument, step.item}));
    QS_TRY(const ValueRef to, draft.value(step.to));
    if (!draft.readAt(where))
        return refuse("argument '" + step.argument + "' of " + draft.graph().get(where.node).name
                          + " is a literal",
                      "set it instead");
    draft.put(where, to);
    QS_CHECK(draft.putInOrder(where.node));
    draft.graph().eraseDead();
    QS_CHECK(draft.spread({where.node}));
    return EditedNodes {where.node};
}

Result<EditedNodes> duplicateOperator(EditDraft& draft, const EditStep& step)
{
    QS_CHECK(checkName(step.name));
    QS_TRY(const NodeId id, draft.operatorAt(step.at));
    if (hasEffect(draft.graph().get(id)))
        return refuse(draft.graph().get(id).name + " updates the model's state or raises");
    QS_TRY(const ValueRef original, draft.value(step.at));
    QS_TRY(const std::vector<EditDraft::Place> places, draft.placesFor(step.readers, original));
    if (places.empty())
        return refuse("nothing would read the copy", "name its readers");
    Node copy = draft.graph().get(id);
    copy.id = {};
    copy.name = step.name;
    ++copy.scope.callIndex; // counts as another call of its layer
    for (std::size_t i = 0; i < copy.outputs.size(); ++i)
        copy.outputs[i].name = i == 0 ? step.name : "";
    const NodeId made = draft.graph().insertAfter(std::move(copy), id);
    for (const EditDraft::Place& reader : places)
        draft.put(reader, {made, original.index});
    QS_CHECK(draft.addresses().add(step.name, made));
    return EditedNodes {made};
}

Result<EditedNodes> renameOperator(EditDraft& draft, const EditStep& step)
{
    QS_CHECK(checkName(step.name));
    QS_TRY(const NodeId id, draft.operatorAt(step.at));
    for (const NodeId other : draft.graph().order())
        if (other != id && draft.graph().get(other).name == step.name)
            return refuse("another node is called " + inQuotes(step.name) + " already");
    draft.graph().rename(id, step.name);
    return EditedNodes {id};
}

} // namespace qs
