// SPDX-License-Identifier: Apache-2.0
#include "engine/base/text.h"
#include "engine/execute/classes/class_methods.h"
#include "engine/execute/op_table.h"
#include "engine/execute/value_conversion.h"
#include "engine/graph/operators/common_targets.h"
#include "engine/import/torchscript/walk/torchscript_evaluator.h"

namespace qs {

namespace {

using Kind = ScriptContainer::Kind;

} // namespace

Result<void> ScriptEvaluator::construct(const JitNode& node, Items args, Env& env)
{
    const c10::TypePtr type = node.output()->type();
    ScriptItem made = makeContainer(Kind::List, type, {});
    ScriptContainer& held = *containerOf(made);
    if (node.kind() == c10::prim::CreateObject) {
        held.kind = Kind::Object;
        held.items.resize(type->expectRef<c10::ClassType>().numAttributes());
    } else if (type->kind() == c10::TypeKind::DictType) {
        held.kind = Kind::Dict;
        for (std::size_t i = 0; i + 1 < args.size(); i += 2) {
            const auto* key = knownValue(args[i]);
            if (!key)
                return fail(unsupported(node, "has a key known only at run time"));
            held.keys.push_back(*key);
            held.items.push_back(args[i + 1]);
        }
    } else {
        held.kind = node.kind() == c10::prim::TupleConstruct ? Kind::Tuple : Kind::List;
        held.items = std::move(args);
    }
    env[node.output()] = std::move(made);
    return {};
}

Result<void> ScriptEvaluator::unpack(const JitNode& node, const ScriptItem& item, Env& env)
{
    const ScriptContainer* whole = containerOf(item);
    if (whole && whole->sizesOf) {
        // Anything else would raise; what a branch finds holds within it alone.
        if (whole->sizesOf->scope == m_scope)
            setRank(*whole->sizesOf, std::int64_t(node.outputs().size()));
        for (std::size_t i = 0; i < node.outputs().size(); ++i) {
            QS_TRY(env[node.outputs()[i]],
                   sizeOf(*whole->sizesOf, at::IValue(std::int64_t(i)), &node));
        }
        return {};
    }
    if (!whole || whole->runtime) {
        QS_TRY(Argument read, argument(item, c10::AnyType::get()));
        Node made;
        made.target = kScriptUnpackTarget;
        made.name = "unpack";
        made.args = {{"values", std::move(read)}};
        return bindOutputs(node, std::move(made), env);
    }
    if (whole->items.size() != node.outputs().size())
        return fail(unsupported(node,
                                "expects " + counted(node.outputs().size(), "value") + " of "
                                    + std::to_string(whole->items.size())));
    for (std::size_t i = 0; i < whole->items.size(); ++i)
        env[node.outputs()[i]] = whole->items[i];
    return {};
}

Result<ScopedRef> ScriptEvaluator::makeRuntime(const ScriptContainerPtr& container)
{
    if (container->runtime)
        return *container->runtime;
    if (container->sizesOf) {
        QS_TRY(const ValueRef tensor, m_scope->use(*container->sizesOf));
        return emitOne(kSizesTarget, {{"self", tensor}}, ValueKind::Tuple, nullptr);
    }
    if (container->kind == Kind::Object)
        return fail(ErrorCode::Unsupported,
                    "an object of class '" + scriptClassName(*container->type)
                        + "' is a value that only a run tells");
    Argument::List items, keys;
    c10::TypePtr element = c10::AnyType::get();
    if (const auto list = container->type->cast<c10::ListType>())
        element = list->getElementType();
    for (const ScriptItem& part : container->items) {
        QS_TRY(Argument read, argument(part, c10::AnyType::get()));
        items.push_back(std::move(read));
    }
    for (const at::IValue& key : container->keys)
        keys.push_back(constantArgument(key));
    Node made;
    made.args = {{"values", std::move(items)}};
    made.name = container->kind == Kind::Tuple ? "tuple"
        : container->kind == Kind::List        ? "list"
                                               : "dict";
    made.target = container->kind == Kind::Tuple ? kScriptTupleTarget
        : container->kind == Kind::List          ? kScriptListTarget
                                                 : kScriptDictTarget;
    if (container->kind == Kind::List)
        made.args.push_back({"type", element->annotation_str()});
    if (container->kind == Kind::Dict)
        made.args.push_back({"keys", std::move(keys)});
    made.outputs.push_back({"", runtimeType(container->type)});
    label(made, nullptr);
    return emit(std::move(made));
}

/// A method of a C++ class is an operator; the constructor gives the object that was created for
/// it.
Result<void> ScriptEvaluator::emitMethod(const JitNode& node, Items args, Env& env)
{
    const auto type = node.input(0)->type()->cast<c10::ClassType>();
    const std::string& name = node.s(c10::attr::name);
    const auto target = classMethodTarget(type, name);
    const auto op = target ? findOperator(*target) : std::nullopt;
    if (!op)
        return fail(unsupported(node,
                                "calls '" + name + "' of the C++ class " + type->str()
                                    + ", which has no such method or changes its object by it"));
    Node made;
    made.target = *target;
    if (name != kConstructor) {
        QS_TRY(made.args, arguments(op->schema(), args));
        return bindOutputs(node, std::move(made), env);
    }
    ScriptContainer* object = containerOf(args.at(0));
    if (!object)
        return fail(unsupported(node, "makes an object that there is already"));
    QS_TRY(made.args, arguments(op->schema(), {args.begin() + 1, args.end()}));
    made.outputs.push_back({"", runtimeType(type)});
    label(made, &node);
    object->runtime = emit(std::move(made));
    env[node.output()] = at::IValue();
    return {};
}

} // namespace qs
