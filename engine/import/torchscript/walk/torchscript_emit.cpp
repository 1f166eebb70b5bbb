// SPDX-License-Identifier: Apache-2.0
#include "engine/execute/control/script_ops.h"
#include "engine/execute/op_table.h"
#include "engine/graph/operators/common_targets.h"
#include "engine/import/torchscript/normalise/torchscript_spelling.h"
#include "engine/import/torchscript/normalise/torchscript_types.h"
#include "engine/import/torchscript/torchscript_placeholders.h"
#include "engine/import/torchscript/walk/torchscript_evaluator.h"

#include <algorithm>

namespace qs {

namespace {

using Kind = ScriptContainer::Kind;

/// FX's name for a call of the target: "relu_" for "aten.relu_.default".
std::string nodeName(const std::string& target)
{
    const auto first = target.find('.');
    const auto last = target.rfind('.');
    std::string name
        = first == last ? target.substr(first + 1) : target.substr(first + 1, last - first - 1);
    return name;
}

bool sameDefault(const Argument& given, const c10::Argument& slot)
{
    if (!slot.default_value())
        return false;
    const Argument usual = constantArgument(*slot.default_value(), slot.real_type());
    if (given == usual)
        return true;
    // An `int[2]=1` may be spelled [1, 1].
    const auto* list = given.asList();
    return list && slot.N() && std::all_of(list->begin(), list->end(), [&](const Argument& item) {
               const auto* one = usual.asList();
               return item == usual || (one && one->size() == 1 && item == one->front());
           });
}

} // namespace

Result<Argument> ScriptEvaluator::argument(const ScriptItem& item, const c10::TypePtr& wanted)
{
    if (std::holds_alternative<std::monostate>(item))
        return Argument();
    if (const auto* value = knownValue(item))
        return constantArgument(*value, wanted);
    if (const auto* ref = runtimeValue(item)) {
        QS_TRY(const ValueRef inside, m_scope->use(*ref));
        return Argument(inside);
    }
    const ScriptContainerPtr held = std::get<ScriptContainerPtr>(item);
    const auto list = unwrapped(wanted)->cast<c10::ListType>();
    const bool plain = list
        && std::none_of(held->items.begin(), held->items.end(),
                        [](const ScriptItem& part) { return containerOf(part) != nullptr; });
    if (!plain || held->runtime || held->sizesOf || held->kind != Kind::List) {
        QS_TRY(const ScopedRef made, makeRuntime(held));
        QS_TRY(const ValueRef inside, m_scope->use(made));
        return Argument(inside);
    }
    Argument::List items;
    for (const ScriptItem& part : held->items) {
        QS_TRY(Argument read, argument(part, list->getElementType()));
        items.push_back(std::move(read));
    }
    return Argument(std::move(items));
}

void ScriptEvaluator::label(Node& made, const JitNode* from) const
{
    if (made.name.empty())
        made.name = nodeName(made.target);
    if (m_levels.empty())
        return;
    const Level& level = m_levels.back();
    made.scope = level.scope;
    if (from)
        made.source = m_debug.find(from->sourceRange());
    if (!level.function.empty())
        made.torchFn = "function." + level.function;
    else if (from)
        made.torchFn = m_debug.calledAs(from->sourceRange(), from->kind().toUnqualString());
    if (!level.caller.file.empty()
        && (made.source.file.empty() || ScriptDebug::isInsideTorch(made.source.file)))
        made.source = level.caller;
}

ScopedRef ScriptEvaluator::emit(Node made)
{
    bool isAssumed = false;
    const auto rankInside = [&](ValueRef ref) -> std::optional<std::int64_t> {
        const auto rank = findRank(ScopedRef {m_scope, ref, false});
        isAssumed = isAssumed || (rank && rank->isAssumed);
        return rank ? std::optional(rank->count) : std::nullopt;
    };
    const TypeOf typeInside
        = [&](ValueRef ref) -> const ValueType& { return m_scope->value(ref).type; };
    inferTypes(made, typeInside, rankInside);
    ResultRanks ranks = inferRanks(made, rankInside);
    probeResults(made, ranks, typeInside, rankInside);
    const ScopedRef ref {m_scope, {m_scope->append(std::move(made)), 0}, false};
    for (std::uint32_t i = 0; i < ranks.counts.size(); ++i)
        if (ranks.counts[i])
            setRank({m_scope, {ref.ref.node, i}, false}, *ranks.counts[i],
                    isAssumed || ranks.areAssumed);
    return ref;
}

ScopedRef ScriptEvaluator::emitOne(std::string_view target, std::vector<NamedArgument> args,
                                   ValueKind kind, const JitNode* from)
{
    Node made;
    made.target = target;
    made.args = std::move(args);
    made.outputs.emplace_back();
    made.outputs[0].type.kind = kind;
    label(made, from);
    return emit(std::move(made));
}

Result<ScriptItem> ScriptEvaluator::sizeOf(const ScopedRef& tensor, const ScriptItem& dim,
                                           const JitNode* from)
{
    const Value& value = valueOf(tensor);
    const auto* index = knownValue(dim);
    const bool isWeight = tensor.scope->edit().get(tensor.ref.node).kind == NodeKind::Parameter
        || tensor.scope->edit().get(tensor.ref.node).kind == NodeKind::Constant;
    if (index && index->isInt() && isWeight && value.type.shapeKnown) {
        const std::int64_t rank = std::int64_t(value.type.shape.size());
        const std::int64_t at = index->toInt() < 0 ? index->toInt() + rank : index->toInt();
        if (at >= 0 && at < rank)
            return ScriptItem(at::IValue(value.type.shape[std::size_t(at)].size));
    }
    QS_TRY(const ValueRef self, m_scope->use(tensor));
    QS_TRY(Argument place, argument(dim, c10::IntType::get()));
    return ScriptItem(
        emitOne(kSizeTarget, {{"self", self}, {"dim", std::move(place)}}, ValueKind::SymInt, from));
}

Result<std::vector<NamedArgument>> ScriptEvaluator::arguments(const c10::FunctionSchema& schema,
                                                              const Items& args)
{
    std::vector<NamedArgument> made;
    for (std::size_t i = 0; i < args.size(); ++i) {
        const bool formal = i < schema.arguments().size();
        QS_TRY(Argument read,
               argument(args[i],
                        formal ? schema.arguments()[i].real_type()
                               : c10::TypePtr(c10::AnyType::get())));
        made.push_back({formal ? schema.arguments()[i].name() : "", std::move(read)});
    }
    while (!made.empty() && made.size() <= schema.arguments().size()
           && sameDefault(made.back().value, schema.arguments()[made.size() - 1]))
        made.pop_back();
    return made;
}

Result<void> ScriptEvaluator::bindOutputs(const JitNode& node, Node made, Env& env,
                                          const ScriptContainerPtr& changed)
{
    std::vector<std::size_t> widths;
    for (const JitValue* out : node.outputs()) {
        const auto list = out->type()->cast<c10::ListType>();
        const bool tensors = list && list->getElementType()->kind() == c10::TypeKind::TensorType;
        const bool alone = !changed && node.outputs().size() == 1;
        const ScriptParts taken = tensors && alone ? partsUsed(*out) : ScriptParts();
        const std::size_t parts = taken.isReadWhole ? 0 : taken.count;
        widths.push_back(parts);
        Value value;
        value.type = runtimeType(parts > 0 ? list->getElementType() : out->type());
        for (std::size_t i = 0; i < std::max<std::size_t>(parts, 1); ++i)
            made.outputs.push_back(value);
    }
    if (changed)
        made.outputs.push_back({"", runtimeType(changed->type)});
    label(made, &node);
    const bool outputsNothing = made.outputs.empty();
    const ScopedRef first = emit(std::move(made));
    if (outputsNothing)
        return {};
    std::uint32_t next = 0;
    for (std::size_t i = 0; i < node.outputs().size(); ++i) {
        const JitValue* out = node.outputs()[i];
        const auto reference = [&] {
            ScopedRef ref {m_scope, {first.ref.node, next++}, false};
            ref.maybeNone = out->type()->kind() == c10::TypeKind::OptionalType;
            return ref;
        };
        if (widths[i] > 0) {
            std::vector<ScriptItem> parts;
            for (std::size_t p = 0; p < widths[i]; ++p)
                parts.push_back(reference());
            env[out] = makeContainer(Kind::List, out->type(), std::move(parts));
        } else if (isListType(out->type()) || out->type()->kind() == c10::TypeKind::DictType) {
            const Kind kind = isListType(out->type()) ? Kind::List : Kind::Dict;
            ScriptItem whole = makeContainer(kind, unwrapped(out->type()), {});
            const ScopedRef ref = reference();
            if (ref.maybeNone) {
                env[out] = ref;
            } else {
                containerOf(whole)->runtime = ref;
                env[out] = std::move(whole);
            }
        } else {
            env[out] = reference();
        }
    }
    if (changed) {
        m_journal.touch(changed);
        changed->items.clear();
        changed->keys.clear();
        changed->sizesOf.reset();
        changed->runtime = ScopedRef {m_scope, {first.ref.node, next}, false};
    }
    return {};
}

Result<void> ScriptEvaluator::emitOperator(const JitNode& node, Items args, Env& env)
{
    respellNumber(node, args);
    const c10::FunctionSchema* schema = node.maybeSchema();
    if (!schema)
        return fail(unsupported(node, "is not read"));
    if (isPlaceholder(*schema))
        return emitUnknown(node, *schema, args, env);
    Node made;
    made.target = targetOf(schema->operator_name());
    if (isForbiddenOperator(made.target)) {
        made.opaqueReason = "'" + made.target + "' reaches outside the model and is never run";
    } else if (!findOperator(made.target) && !findScriptOperator(made.target)) {
        made.opaqueReason = "operator '" + made.target + "' is not known to this LibTorch";
    }
    ScriptContainerPtr changed;
    for (std::size_t i = 0; i < args.size() && i < schema->arguments().size(); ++i) {
        const auto& slot = schema->arguments()[i];
        const auto kind = slot.type()->kind();
        const bool container = kind == c10::TypeKind::ListType || kind == c10::TypeKind::DictType;
        if (container && slot.alias_info() && slot.alias_info()->isWrite() && containerOf(args[i])
            && !findOperator(made.target))
            changed = std::get<ScriptContainerPtr>(args[i]);
    }
    if (changed) {
        for (std::size_t i = 0; i < args.size(); ++i) {
            QS_TRY(Argument read, argument(args[i], c10::AnyType::get()));
            made.args.push_back({schema->arguments()[i].name(), std::move(read)});
        }
    } else {
        QS_TRY(made.args, arguments(*schema, args));
    }
    respellNode(made);
    QS_CHECK(bindOutputs(node, std::move(made), env, changed));
    // append and the like return the very list.
    if (changed && node.outputs().size() == 1 && isListType(node.output()->type()))
        env[node.output()] = changed;
    return {};
}

Result<void> ScriptEvaluator::emitUnknown(const JitNode& node, const c10::FunctionSchema& schema,
                                          const Items& args, Env& env)
{
    const auto leftOut = [&](std::size_t i) {
        const auto* value = knownValue(args[i]);
        return schema.arguments()[i].default_value() && value && value->isNone();
    };
    const std::size_t places = placesOf(schema);
    std::size_t given = places;
    while (given > 0 && leftOut(given - 1))
        --given;
    Node made;
    made.target = targetOf({schema.name(), ""});
    made.opaqueReason = "operator '" + made.target + "' is not known to this LibTorch";
    for (std::size_t i = 0; i < args.size(); ++i) {
        const bool byName = i >= places;
        if (byName ? leftOut(i) : i >= given)
            continue;
        QS_TRY(Argument read, argument(args[i], node.input(i)->type()));
        made.args.push_back({byName ? schema.arguments()[i].name() : "", std::move(read)});
    }
    return bindOutputs(node, std::move(made), env);
}

} // namespace qs
