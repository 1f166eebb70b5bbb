// SPDX-License-Identifier: Apache-2.0
#include "engine/export/torchscript/script_containers.h"

#include "engine/execute/control/script_control.h"
#include "engine/graph/operators/common_targets.h"

#include <algorithm>

namespace qs {

namespace {

using Values = std::vector<ScriptValue*>;

Result<ScriptValue*> plainValue(ScriptBuilder& builder, const Argument& item)
{
    return builder.argument(item, c10::AnyType::get());
}

Result<Values> members(ScriptBuilder& builder, const Node& node, std::size_t position)
{
    Values out;
    const Argument* given = node.tryArg(position);
    if (const auto* list = given ? given->asList() : nullptr)
        for (const Argument& item : *list) {
            QS_TRY(ScriptValue * value, plainValue(builder, item));
            out.push_back(value);
        }
    return out;
}

/// The common type of all values, `ofNothing` without values; None and a tensor give an optional
/// tensor.
Result<c10::TypePtr> commonType(const Values& values, const c10::TypePtr& ofNothing)
{
    c10::TypePtr type = values.empty() ? ofNothing : values.front()->type();
    for (const ScriptValue* value : values) {
        const auto joined = c10::unifyTypes(type, value->type());
        if (!joined)
            return fail(ErrorCode::Unsupported,
                        "its members have different types, which TorchScript does not take");
        type = *joined;
    }
    return type;
}

c10::TypePtr namedElement(const Node& node)
{
    const Argument* given = node.tryArg("type");
    const std::string* name = given ? given->asString() : nullptr;
    const c10::TypePtr type
        = name ? scriptElementType(*name) : c10::TypePtr(c10::TensorType::get());
    return type->kind() == c10::TypeKind::AnyType ? c10::TypePtr(c10::TensorType::get()) : type;
}

Result<Values> makeList(ScriptBuilder& builder, const Node& node)
{
    QS_TRY(const Values items, members(builder, node, 0));
    QS_TRY(const c10::TypePtr element, commonType(items, namedElement(node)));
    auto& body = builder.body();
    return Values {body.insertNode(body.createList(element, items))->output()};
}

Result<Values> makeDict(ScriptBuilder& builder, const Node& node)
{
    QS_TRY(const Values values, members(builder, node, 0));
    QS_TRY(const Values keys, members(builder, node, 1));
    if (keys.empty() || keys.size() != values.size())
        return fail(ErrorCode::Unsupported, "it is a dict without known keys");
    QS_TRY(const c10::TypePtr key, commonType(keys, c10::StringType::get()));
    QS_TRY(const c10::TypePtr value, commonType(values, c10::TensorType::get()));
    auto& body = builder.body();
    return Values {body.insertNode(body.createDict(key, value, keys, values))->output()};
}

Result<Values> unpack(ScriptBuilder& builder, const Node& node, ScriptValue* whole)
{
    auto& body = builder.body();
    const bool isTuple = whole->type()->kind() == c10::TypeKind::TupleType;
    if (!isTuple && whole->type()->kind() != c10::TypeKind::ListType)
        return fail(ErrorCode::Unsupported, "it unpacks a value that is not a tuple or list");
    auto* parts = body.insertNode(isTuple ? body.createTupleUnpack(whole)
                                          : body.createListUnpack(whole, node.outputs.size()));
    if (parts->outputs().size() != node.outputs.size())
        return fail(ErrorCode::BadInput, "it expects another number of values");
    return Values(parts->outputs().begin(), parts->outputs().end());
}

Result<Values> element(ScriptBuilder& builder, const Node& node, ScriptValue* whole)
{
    const auto tuple = whole->type()->cast<c10::TupleType>();
    const Argument* place = node.tryArg(1);
    const auto* at = place ? place->asInt() : nullptr;
    if (!tuple || !at)
        return fail(ErrorCode::Unsupported, "it reads a tuple at a place known only at run time");
    const std::int64_t count = std::int64_t(tuple->elements().size());
    const std::int64_t index = *at < 0 ? *at + count : *at;
    if (index < 0 || index >= count)
        return fail(ErrorCode::BadInput, "a tuple has no element " + std::to_string(*at));
    auto& body = builder.body();
    return Values {body.insertNode(body.createTupleIndex(whole, builder.literal(index),
                                                         tuple->elements()[std::size_t(index)]))
                       ->output()};
}

Result<Values> raise(ScriptBuilder& builder, ScriptValue* message)
{
    auto& body = builder.body();
    body.insertNode(
        body.create(torch::jit::prim::RaiseException, {message, builder.literal({})}, 0));
    return Values {};
}

} // namespace

bool isScriptContainer(const Node& node)
{
    return isScriptControl(node.target) && node.subgraphs.empty();
}

Result<Values> emitContainer(ScriptBuilder& builder, const Node& node)
{
    if (node.target == kScriptListTarget)
        return makeList(builder, node);
    if (node.target == kScriptDictTarget)
        return makeDict(builder, node);
    auto& body = builder.body();
    if (node.target == kScriptTupleTarget) {
        QS_TRY(const Values items, members(builder, node, 0));
        return Values {body.insertNode(body.createTuple(items))->output()};
    }
    const Argument* given = node.tryArg(0);
    if (!given)
        return fail(ErrorCode::BadInput, "it lacks an argument");
    QS_TRY(ScriptValue * whole, plainValue(builder, *given));
    if (node.target == kRaiseTarget)
        return raise(builder, whole);
    return node.target == kScriptUnpackTarget ? unpack(builder, node, whole)
                                              : element(builder, node, whole);
}

} // namespace qs
