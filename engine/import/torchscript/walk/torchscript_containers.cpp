// SPDX-License-Identifier: Apache-2.0
#include "engine/import/torchscript/walk/torchscript_containers.h"

#include "engine/base/each_of.h"
#include "engine/base/text.h"
#include "engine/base/torch_guard.h"
#include "engine/execute/op_table.h"
#include "engine/execute/value_conversion.h"
#include "engine/graph/operators/common_targets.h"
#include "engine/graph/operators/operators.h"

#include <algorithm>
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

/// True if a program repeats a list so often that it is evaluated at run time instead.
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
ScriptContainers::knownAs(const ScriptItem& item, const c10::TypePtr& declared, const JitNode& node)
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
    ScriptItems sizes;
    if (held->sizesOf) {
        const auto rank = m_emitter.decidableRank(*held->sizesOf);
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

Result<ScriptAnswer> ScriptContainers::runKnown(const JitNode& node, const ScriptItems& args)
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
            return fail(
                m_emitter.unsupported(node, "uses a dict with a key known only at run time"));
        // A message with run-time values: its template suffices.
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
        return fail(m_emitter.unsupported(node, "fails: " + ran.error().message));
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
        m_emitter.journal().touch(*changed);
        **changed = *containerOf(now);
        // `append` and similar operators return the list itself.
        if (!stack.empty() && stack[0].is(given[i]))
            result = args[i];
    }
    return ScriptAnswer(std::move(result));
}

Result<ScriptItems> ScriptContainers::sizesFrom(const ScopedRef& tensor, std::int64_t first,
                                                std::int64_t end, const JitNode& node)
{
    std::vector<std::int64_t> dims(std::size_t(end - first));
    std::iota(dims.begin(), dims.end(), first);
    return eachOf(
        dims, [&](std::int64_t dim) { return m_emitter.emitSize(tensor, at::IValue(dim), &node); });
}

/// Answers reads of a tensor's sizes that do not need its rank.
Result<ScriptAnswer> ScriptContainers::readSizes(const JitNode& node, const ScriptItems& args)
{
    const ScopedRef tensor = *containerOf(args[0])->sizesOf;
    if (node.kind() == c10::aten::__getitem__)
        return m_emitter.emitSize(tensor, args.at(1), &node);
    const auto rank = m_emitter.decidableRank(tensor);
    if (node.kind() == c10::aten::len) {
        QS_TRY(const ValueRef self, m_emitter.use(tensor));
        return rank ? ScriptAnswer(at::IValue(*rank))
                    : m_emitter.emitOne(kRankTarget, {{"self", self}}, ValueKind::SymInt, &node);
    }
    if (rank || node.kind() != c10::aten::slice)
        return ScriptAnswer();
    // Sizes counted from the end do not depend on the rank.
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
    QS_TRY(ScriptItems sizes, sizesFrom(tensor, first, 0, node));
    return ScriptAnswer(makeContainer(Kind::List, node.output()->type(), std::move(sizes)));
}

Result<ScriptAnswer> ScriptContainers::readContainer(const JitNode& node, const ScriptItems& args)
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

Result<void> ScriptContainers::construct(const JitNode& node, ScriptItems args, ScriptEnv& env)
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
            return fail(m_emitter.unsupported(node, "has a key known only at run time"));
        held.keys.push_back(*key);
        held.items.push_back(args[i + 1]);
    }
    env[node.output()] = std::move(made);
    return {};
}

Result<void> ScriptContainers::unpack(const JitNode& node, const ScriptItem& item, ScriptEnv& env)
{
    const ScriptContainer* whole = containerOf(item);
    if (whole && whole->sizesOf) {
        // Another rank would raise. Facts learned in a branch hold only inside it.
        if (whole->sizesOf->scope == &m_emitter.scope())
            m_emitter.inference().setRank(*whole->sizesOf, {std::int64_t(node.outputs().size())});
        QS_TRY(const ScriptItems sizes,
               sizesFrom(*whole->sizesOf, 0, std::int64_t(node.outputs().size()), node));
        for (std::size_t i = 0; i < sizes.size(); ++i)
            env[node.outputs()[i]] = sizes[i];
        return {};
    }
    if (!whole || whole->runtime) {
        QS_TRY(Argument read, m_emitter.argument(item, c10::AnyType::get()));
        Node made;
        made.target = kScriptUnpackTarget;
        made.name = "unpack";
        made.args = {{"values", std::move(read)}};
        return m_emitter.emitFor(node, std::move(made), env);
    }
    if (whole->items.size() != node.outputs().size())
        return fail(m_emitter.unsupported(node,
                                          "expects " + counted(node.outputs().size(), "value")
                                              + " of " + std::to_string(whole->items.size())));
    for (std::size_t i = 0; i < whole->items.size(); ++i)
        env[node.outputs()[i]] = whole->items[i];
    return {};
}

} // namespace qs
