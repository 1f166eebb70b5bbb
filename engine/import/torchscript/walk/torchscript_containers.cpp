// SPDX-License-Identifier: Apache-2.0
#include "engine/base/text.h"
#include "engine/base/torch_guard.h"
#include "engine/execute/classes/class_methods.h"
#include "engine/execute/op_table.h"
#include "engine/execute/value_conversion.h"
#include "engine/graph/operators/common_targets.h"
#include "engine/graph/operators/operators.h"
#include "engine/import/torchscript/walk/torchscript_evaluator.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace qs {

namespace {

using Kind = ScriptContainer::Kind;

/// True for operators on lists and dicts of any type: LibTorch's operators pass the elements on
/// without reading them.
bool isStructural(const c10::FunctionSchema& schema)
{
    const auto& formal = schema.arguments();
    const auto& results = schema.returns();
    return std::any_of(formal.begin(), formal.end(),
                       [](const c10::Argument& slot) {
                           const auto kind = slot.type()->kind();
                           return slot.type()->hasFreeVariables()
                               && (kind == c10::TypeKind::ListType
                                   || kind == c10::TypeKind::DictType);
                       })
        && (results.empty() || results[0].type()->kind() != c10::TypeKind::TensorType);
}

bool isWritten(const c10::FunctionSchema& schema, std::size_t place)
{
    const auto* alias
        = place < schema.arguments().size() ? schema.arguments()[place].alias_info() : nullptr;
    return alias && alias->isWrite();
}

/// True where a program repeats a list so often that this is left to a run.
bool repeatsTooOften(const torch::jit::Stack& stack)
{
    constexpr std::int64_t kLongest = 4096;
    std::int64_t times = 0, length = 0;
    for (const at::IValue& value : stack)
        if (value.isInt())
            times = std::clamp<std::int64_t>(value.toInt(), 0, kLongest + 1);
        else if (value.isList())
            length = std::int64_t(value.toListRef().size());
    return times * length > kLongest;
}

} // namespace

Result<std::optional<at::IValue>>
ScriptEvaluator::knownAs(const ScriptItem& item, const c10::TypePtr& declared, const JitNode& node)
{
    using Known = std::optional<at::IValue>;
    if (const auto* value = knownValue(item))
        return Known(*value);
    const c10::TypePtr wanted = unwrapped(declared);
    if (wanted->kind() == c10::TypeKind::VarType)
        return Known(handleOf(item));
    const ScriptContainer* held = containerOf(item);
    if (!held || held->runtime || held->kind == Kind::Object)
        return Known();
    Items sizes;
    if (held->sizesOf) {
        const auto rank = decidableRank(*held->sizesOf);
        if (!rank || !wanted->hasFreeVariables())
            return Known();
        QS_TRY(sizes, sizesFrom(*held->sizesOf, 0, *rank, node));
    }
    std::vector<at::IValue> parts;
    for (const ScriptItem& part : held->sizesOf ? sizes : held->items) {
        QS_TRY(Known value, knownAs(part, partType(wanted, parts.size()), node));
        if (!value)
            return Known();
        parts.push_back(std::move(*value));
    }
    if (held->kind == Kind::Tuple)
        return Known(c10::ivalue::Tuple::create(std::move(parts)));
    const c10::TypePtr type = unwrapped(held->type);
    if (held->kind == Kind::List) {
        c10::impl::GenericList list(partType(type, 0));
        for (at::IValue& part : parts)
            list.push_back(std::move(part));
        return Known(std::move(list));
    }
    const auto dictType = type->expect<c10::DictType>();
    c10::impl::GenericDict dict(dictType->getKeyType(), dictType->getValueType());
    for (std::size_t i = 0; i < parts.size(); ++i)
        dict.insert_or_assign(held->keys[i], std::move(parts[i]));
    return Known(std::move(dict));
}

/// Computes known values by LibTorch's own operator: numbers, texts, and lists and dicts of any
/// content.
Result<ScriptAnswer> ScriptEvaluator::runKnown(const JitNode& node, const Items& args)
{
    const std::string kind = node.kind().toQualString();
    const c10::FunctionSchema* schema = node.maybeSchema();
    if (!schema || !node.maybeOperator() || node.outputs().size() > 1
        || (!isStructural(*schema) && !hasTrait(kind, OperatorTrait::Folds)))
        return ScriptAnswer();
    torch::jit::Stack stack;
    for (std::size_t i = 0; i < args.size(); ++i) {
        const bool isFormal = i < schema->arguments().size();
        const c10::TypePtr wanted
            = isFormal ? schema->arguments()[i].type() : c10::TypePtr(c10::AnyType::get());
        QS_TRY(auto value, knownAs(args[i], wanted, node));
        const auto* whole = takenApart(args[0]);
        if (!value && whole && whole->kind == Kind::Dict)
            return fail(unsupported(node, "uses a dict with a key known only at run time"));
        // A message with values known only at run time: its template is enough.
        if (!value)
            return kind == "aten::format" ? ScriptAnswer(args[0]) : ScriptAnswer();
        stack.push_back(std::move(*value));
    }
    if (kind.starts_with("aten::mul") && repeatsTooOften(stack))
        return ScriptAnswer();
    const torch::jit::Stack given = stack;
    if (schema->is_vararg())
        stack.emplace_back(std::int64_t(stack.size()));
    const auto ran = guardTorch([&]() -> Result<void> {
        node.getOperation()(stack);
        return {};
    });
    if (!ran)
        return fail(unsupported(node, "fails: " + ran.error().message));
    if (stack.size() != node.outputs().size() || (!stack.empty() && stack[0].isTensor()))
        return ScriptAnswer();
    ScriptItem result;
    if (!stack.empty()) {
        QS_TRY(result, m_weights.item(stack[0], "", node.output()->type()));
    }
    for (std::size_t i = 0; i < args.size(); ++i) {
        const auto* changed = std::get_if<ScriptContainerPtr>(&args[i]);
        if (!changed || !isWritten(*schema, i))
            continue;
        QS_TRY(const ScriptItem now, m_weights.item(given[i], "", (*changed)->type));
        m_journal.touch(*changed);
        **changed = *containerOf(now);
        if (!stack.empty() && stack[0].is(given[i])) // append and the like return the very list
            result = args[i];
    }
    return ScriptAnswer(std::move(result));
}

/// Its sizes from one dimension to another, both counted from one end.
Result<ScriptEvaluator::Items> ScriptEvaluator::sizesFrom(const ScopedRef& tensor,
                                                          std::int64_t first, std::int64_t end,
                                                          const JitNode& node)
{
    std::vector<std::int64_t> dims(std::size_t(end - first));
    std::iota(dims.begin(), dims.end(), first);
    return eachOf(dims, [&](std::int64_t dim) { return sizeOf(tensor, at::IValue(dim), &node); });
}

/// What is asked of the sizes of a tensor that needs no number of them.
Result<ScriptAnswer> ScriptEvaluator::readSizes(const JitNode& node, const Items& args)
{
    const ScopedRef tensor = *containerOf(args[0])->sizesOf;
    if (node.kind() == c10::aten::__getitem__)
        return sizeOf(tensor, args.at(1), &node);
    const auto rank = decidableRank(tensor);
    if (node.kind() == c10::aten::len) {
        QS_TRY(const ValueRef self, m_scope->use(tensor));
        return rank ? ScriptAnswer(at::IValue(*rank))
                    : emitOne(kRankTarget, {{"self", self}}, ValueKind::SymInt, &node);
    }
    if (rank || node.kind() != c10::aten::slice)
        return ScriptAnswer();
    // The last ones have the same names whatever the rank.
    const auto number = [&](std::size_t place, std::int64_t missing) {
        const auto* value = knownValue(args.at(place));
        return value && value->isInt() ? value->toInt() : missing;
    };
    constexpr std::int64_t kMost = 16;
    const auto* last = knownValue(args.at(2));
    const std::int64_t first = number(1, 0);
    if (!last || (!last->isNone() && number(2, 0) != INT64_MAX) || number(3, 0) != 1 || first >= 0
        || first < -kMost)
        return ScriptAnswer();
    QS_TRY(Items sizes, sizesFrom(tensor, first, 0, node));
    return ScriptAnswer(makeContainer(Kind::List, node.output()->type(), std::move(sizes)));
}

Result<ScriptAnswer> ScriptEvaluator::readContainer(const JitNode& node, const Items& args)
{
    const ScriptContainer* first = args.empty() ? nullptr : containerOf(args[0]);
    const auto* tensor = args.empty() ? nullptr : runtimeValue(args[0]);
    if (tensor && args.size() == 1 && node.kind() == c10::aten::size) {
        ScriptItem sizes = makeContainer(Kind::List, node.output()->type(), {});
        containerOf(sizes)->sizesOf = *tensor;
        return ScriptAnswer(std::move(sizes));
    }
    if (first && first->sizesOf)
        return readSizes(node, args);
    if (!first || first->runtime || first->kind != Kind::Tuple)
        return ScriptAnswer();
    const auto* place = node.kind() == c10::prim::TupleIndex ? knownValue(args.at(1)) : nullptr;
    if (place && place->isInt()) {
        const std::int64_t count = std::int64_t(first->items.size());
        const std::int64_t at = place->toInt() < 0 ? place->toInt() + count : place->toInt();
        return ScriptAnswer(first->items.at(std::size_t(at)));
    }
    if (node.kind() != c10::prim::TupleSlice)
        return ScriptAnswer();
    return ScriptAnswer(makeContainer(Kind::Tuple, node.output()->type(),
                                      {first->items.begin() + node.i(c10::attr::beg),
                                       first->items.begin() + node.i(c10::attr::end)}));
}

Result<void> ScriptEvaluator::construct(const JitNode& node, Items args, Env& env)
{
    const c10::TypePtr type = node.output()->type();
    ScriptItem made = makeContainer(kindOf(*type), type, {});
    ScriptContainer& held = *containerOf(made);
    if (held.kind == Kind::Object)
        held.items.resize(type->expectRef<c10::ClassType>().numAttributes());
    else if (held.kind != Kind::Dict)
        held.items = std::move(args);
    for (std::size_t i = 0; held.kind == Kind::Dict && i + 1 < args.size(); i += 2) {
        const auto* key = knownValue(args[i]);
        if (!key)
            return fail(unsupported(node, "has a key known only at run time"));
        held.keys.push_back(*key);
        held.items.push_back(args[i + 1]);
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
        QS_TRY(const Items sizes,
               sizesFrom(*whole->sizesOf, 0, std::int64_t(node.outputs().size()), node));
        for (std::size_t i = 0; i < sizes.size(); ++i)
            env[node.outputs()[i]] = sizes[i];
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
