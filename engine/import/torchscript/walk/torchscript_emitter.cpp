// SPDX-License-Identifier: Apache-2.0
#include "engine/import/torchscript/walk/torchscript_emitter.h"

#include "engine/base/each_of.h"
#include "engine/execute/classes/class_methods.h"
#include "engine/execute/control/script_ops.h"
#include "engine/execute/op_table.h"
#include "engine/execute/value_conversion.h"
#include "engine/graph/code/code_statements.h"
#include "engine/graph/code/number_attributes.h"
#include "engine/graph/operators/common_targets.h"
#include "engine/graph/operators/operator_name.h"
#include "engine/import/pt2/pt2_metadata.h"
#include "engine/import/torchscript/torchscript_placeholders.h"
#include "engine/import/torchscript/torchscript_weights.h"
#include "engine/import/torchscript/walk/torchscript_respell.h"

#include <algorithm>
#include <array>

namespace qs {

namespace {

using Kind = ScriptContainer::Kind;

/// Records the names of scales and zero points that are attributes of the root, for the printed
/// code.
void noteAttributes(const torch::jit::Node& node, const c10::FunctionSchema& schema,
                    const ScriptEnv& env, Node& made)
{
    for (std::size_t i = 0; i < node.inputs().size() && i < schema.arguments().size(); ++i) {
        const std::string& argument = schema.arguments()[i].name();
        const torch::jit::Node& read = *node.input(i)->node();
        if (!(isScale(argument) || isZeroPoint(argument)) || read.kind() != c10::prim::GetAttr
            || !made.tryArg(argument) || made.tryArg(argument)->asRef())
            continue;
        const auto owner = env.find(read.input(0));
        const ScriptContainer* module = owner == env.end() ? nullptr : containerOf(owner->second);
        if (module && module->path.empty())
            noteNumberAttribute(made, argument, read.s(c10::attr::name));
    }
}

} // namespace

ScriptEmitter::ScriptEmitter(ScriptScope& root, const ScriptDebug& debug)
    : m_root(&root)
    , m_scope(&root)
    , m_debug(debug)
{
}

ScriptScope& ScriptEmitter::addScope()
{
    m_scopes.push_back(std::make_unique<ScriptScope>(m_scope, m_scope->edit().tensors()));
    return *m_scopes.back();
}

SourceLocation ScriptEmitter::find(const JitNode& node, const std::string& function) const
{
    const SharedCode* code = m_places.empty() ? nullptr : m_places.back().code;
    return m_debug.find(node.sourceRange(), code, function);
}

Error ScriptEmitter::unsupported(const JitNode& node, const std::string& what) const
{
    const SourceLocation where = find(node);
    std::string text = std::string(node.kind().toQualString()) + " " + what;
    if (!where.file.empty())
        text += " (" + where.file + ", line " + std::to_string(where.line) + ")";
    return makeError(ErrorCode::Unsupported, text);
}

bool ScriptEmitter::isInTorch() const
{
    return !m_places.empty()
        && (!m_places.back().function.empty()
            || m_places.back().scope.moduleClass.starts_with("torch.nn."));
}

std::optional<std::int64_t> ScriptEmitter::decidableRank(const ScriptItem& item) const
{
    const auto rank = m_inference.findRank(item);
    return rank && (!rank->isAssumed || isInTorch()) ? std::optional(rank->count) : std::nullopt;
}

Result<Argument> ScriptEmitter::argument(const ScriptItem& item, const c10::TypePtr& wanted)
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
    QS_TRY(Argument::List items, eachOf(held->items, [&](const ScriptItem& part) {
               return argument(part, list->getElementType());
           }));
    return Argument(std::move(items));
}

void ScriptEmitter::label(Node& made, const JitNode* from) const
{
    if (made.name.empty()) // FX's name of a call: "relu_" for "aten.relu_.default"
        made.name = operatorParts(made.target).word;
    if (m_places.empty())
        return;
    const ScriptPlace& place = m_places.back();
    made.scope = place.scope;
    if (from)
        made.source = m_debug.find(from->sourceRange(), place.code, place.caller.function);
    if (!place.function.empty())
        made.torchFn = "function." + place.function;
    else if (from)
        made.torchFn
            = m_debug.calledAs(from->sourceRange(), place.code, from->kind().toUnqualString());
    if (!place.caller.file.empty() && (made.source.file.empty() || isInsideTorch(made.source.file)))
        made.source = place.caller;
}

ScopedRef ScriptEmitter::emit(Node made)
{
    const auto ranks = m_inference.inferResults(made, *m_scope);
    for (std::size_t i = 0; i < ranks.size(); ++i) {
        ValueType& type = made.outputs[i].type;
        if (type.kind != ValueKind::Tensor || type.shapeKnown || !ranks[i] || ranks[i]->isAssumed)
            continue;
        type.shape.assign(std::size_t(ranks[i]->count), Dim {});
        type.shapeKnown = true; // only the rank is known, not the sizes
    }
    const ScopedRef ref {m_scope, {m_scope->append(std::move(made)), 0}, false};
    for (std::uint32_t i = 0; i < ranks.size(); ++i)
        if (ranks[i])
            m_inference.setRank({m_scope, {ref.ref.node, i}, false}, *ranks[i]);
    return ref;
}

ScopedRef ScriptEmitter::emitOne(std::string_view target, std::vector<NamedArgument> args,
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

Result<ScriptItem> ScriptEmitter::emitSize(const ScopedRef& tensor, const ScriptItem& dim,
                                           const JitNode* from)
{
    const Value& value = scopedValue(tensor);
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

Result<std::vector<NamedArgument>> ScriptEmitter::arguments(const c10::FunctionSchema& schema,
                                                            const ScriptItems& args, bool asValues)
{
    std::vector<NamedArgument> made;
    for (std::size_t i = 0; i < args.size(); ++i) {
        const bool formal = i < schema.arguments().size();
        const c10::TypePtr wanted = formal && !asValues ? schema.arguments()[i].real_type()
                                                        : c10::TypePtr(c10::AnyType::get());
        QS_TRY(Argument read, argument(args[i], wanted));
        made.push_back({formal ? schema.arguments()[i].name() : "", std::move(read)});
    }
    dropDefaults(made, schema);
    return made;
}

Result<void> ScriptEmitter::emitFor(const JitNode& node, Node made, ScriptEnv& env,
                                    const ScriptContainerPtr& changed)
{
    std::vector<std::size_t> parts; // lengths of tensor lists that are unpacked; else 0
    for (const torch::jit::Value* out : node.outputs()) {
        const auto list = out->type()->cast<c10::ListType>();
        const bool areTensors = list && list->getElementType()->kind() == c10::TypeKind::TensorType;
        const bool isAlone = !changed && node.outputs().size() == 1;
        const ScriptParts taken = areTensors && isAlone ? partsUsed(*out) : ScriptParts();
        parts.push_back(taken.isReadWhole ? 0 : taken.count);
        const Value value {"", runtimeType(parts.back() ? list->getElementType() : out->type())};
        made.outputs.insert(made.outputs.end(), std::max<std::size_t>(parts.back(), 1), value);
    }
    if (changed)
        made.outputs.push_back({"", runtimeType(changed->type)});
    label(made, &node);
    ScopedRef ref = emit(std::move(made));
    const auto next = [&ref] {
        const ScopedRef now = ref;
        ++ref.ref.index;
        return now;
    };
    for (std::size_t i = 0; i < parts.size(); ++i) {
        const torch::jit::Value* out = node.outputs()[i];
        ScriptItems items;
        while (items.size() < parts[i])
            items.push_back(next());
        env[out] = parts[i] > 0 ? makeContainer(Kind::List, out->type(), std::move(items))
                                : runtimeItem(next(), out->type());
    }
    if (changed) {
        m_journal.touch(changed);
        *changed = *containerOf(runtimeItem(next(), unwrapped(changed->type)));
    }
    return {};
}

Result<void> ScriptEmitter::emitOperator(const JitNode& node, const ScriptItems& args,
                                         ScriptEnv& env)
{
    const c10::FunctionSchema* schema = node.maybeSchema();
    if (!schema)
        return fail(unsupported(node, "is not read"));
    if (isPlaceholder(*schema))
        return emitUnknown(node, *schema, args, env);
    Node made;
    made.target = targetOf(schema->operator_name());
    if (isForbiddenOperator(made.target)) {
        made.opaqueReason
            = "'" + made.target + "' accesses files, processes or the terminal; it is never run";
    } else if (!findOperator(made.target) && !findScriptOperator(made.target)) {
        made.opaqueReason = "operator '" + made.target + "' is unknown to this LibTorch";
    }
    ScriptContainerPtr changed;
    for (std::size_t i = 0; i < args.size() && i < schema->arguments().size(); ++i) {
        const auto* alias = schema->arguments()[i].alias_info();
        if (alias && alias->isWrite() && containerOf(args[i]) && !findOperator(made.target))
            changed = std::get<ScriptContainerPtr>(args[i]);
    }
    QS_TRY(made.args, arguments(*schema, args, changed != nullptr));
    noteAttributes(node, *schema, env, made);
    respellConvolution(made);
    QS_CHECK(emitFor(node, std::move(made), env, changed));
    // append and similar operators return the list itself.
    if (changed && node.outputs().size() == 1 && kindOf(*node.output()->type()) == Kind::List)
        env[node.output()] = changed;
    return {};
}

Result<void> ScriptEmitter::emitUnknown(const JitNode& node, const c10::FunctionSchema& schema,
                                        const ScriptItems& args, ScriptEnv& env)
{
    Node made;
    made.target = targetOf({schema.name(), ""});
    made.opaqueReason = "operator '" + made.target + "' is unknown to this LibTorch";
    // Omits None arguments: named ones anywhere, positional ones at the end.
    bool atEnd = true;
    for (std::size_t i = args.size(); i-- > 0;) {
        const c10::Argument& slot = schema.arguments()[i];
        const auto* value = knownValue(args[i]);
        if (slot.default_value() && value && value->isNone() && (atEnd || slot.kwarg_only()))
            continue;
        atEnd = atEnd && slot.kwarg_only();
        QS_TRY(Argument read, argument(args[i], node.input(i)->type()));
        made.args.insert(made.args.begin(),
                         {slot.kwarg_only() ? slot.name() : "", std::move(read)});
    }
    return emitFor(node, std::move(made), env);
}

Result<ScopedRef> ScriptEmitter::makeRuntime(const ScriptContainerPtr& container)
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
                        + "' is a value known only when the model runs");
    Argument::List keys;
    c10::TypePtr element = c10::AnyType::get();
    if (const auto list = container->type->cast<c10::ListType>())
        element = list->getElementType();
    QS_TRY(Argument::List items, eachOf(container->items, [&](const ScriptItem& part) {
               return argument(part, c10::AnyType::get());
           }));
    for (const at::IValue& key : container->keys)
        keys.push_back(constantArgument(key));
    Node made;
    made.args = {{"values", std::move(items)}};
    static constexpr std::array<std::pair<const char*, std::string_view>, 3> kMakers {
        {{"tuple", kScriptTupleTarget}, {"list", kScriptListTarget}, {"dict", kScriptDictTarget}}};
    std::tie(made.name, made.target) = kMakers.at(std::size_t(container->kind));
    if (container->kind == Kind::List)
        made.args.push_back({"type", element->annotation_str()});
    if (container->kind == Kind::Dict)
        made.args.push_back({"keys", std::move(keys)});
    made.outputs.push_back({"", runtimeType(container->type)});
    label(made, nullptr);
    return emit(std::move(made));
}

Result<void> ScriptEmitter::emitMethod(const JitNode& node, const ScriptItems& args, ScriptEnv& env)
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
        return emitFor(node, std::move(made), env);
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
