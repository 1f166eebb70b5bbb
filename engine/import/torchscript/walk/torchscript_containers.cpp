// SPDX-License-Identifier: Apache-2.0
#include "engine/graph/operators/common_targets.h"
#include "engine/import/torchscript/walk/torchscript_evaluator.h"

#include <algorithm>

namespace qs {

namespace {

using Kind = ScriptContainer::Kind;

/// Python's index into `count` elements, or nothing when it is out of range or not known.
std::optional<std::size_t> indexInto(const ScriptItem& item, std::size_t count)
{
    const auto* value = knownValue(item);
    if (!value || !value->isInt())
        return std::nullopt;
    std::int64_t index = value->toInt();
    if (index < 0)
        index += std::int64_t(count);
    if (index < 0 || index >= std::int64_t(count))
        return std::nullopt;
    return std::size_t(index);
}

std::optional<std::size_t> findKey(const ScriptContainer& dict, const at::IValue& key)
{
    for (std::size_t i = 0; i < dict.keys.size(); ++i)
        if (dict.keys[i].tagKind() == key.tagKind() && dict.keys[i] == key)
            return i;
    return std::nullopt;
}

/// A dict of pairs whose keys are known, a later one in the place of an earlier of its key, as
/// Python's; none where one is not.
std::optional<ScriptItem> dictOfPairs(const std::vector<ScriptItem>& pairs, c10::TypePtr type)
{
    ScriptItem made = makeContainer(Kind::Dict, std::move(type), {});
    ScriptContainer& dict = *containerOf(made);
    for (const ScriptItem& item : pairs) {
        const ScriptContainer* pair = knownContainer(item, Kind::Tuple);
        const auto* key = pair && pair->items.size() == 2 ? knownValue(pair->items[0]) : nullptr;
        if (!key)
            return std::nullopt;
        if (const auto at = findKey(dict, *key)) {
            dict.items[*at] = pair->items[1];
        } else {
            dict.keys.push_back(*key);
            dict.items.push_back(pair->items[1]);
        }
    }
    return made;
}

} // namespace

Result<bool> ScriptEvaluator::runContainer(const JitNode& node, Env& env)
{
    const std::string kind = node.kind().toQualString();
    QS_TRY(Items args, inputs(node, env));
    QS_TRY(const bool constructed, runConstruct(node, args, env));
    if (constructed)
        return true;
    if (node.kind() == c10::prim::TupleUnpack || node.kind() == c10::prim::ListUnpack) {
        QS_CHECK(unpack(node, args.at(0), env));
        return true;
    }
    const auto bind = [&](ScriptItem value) {
        env[node.output()] = std::move(value);
        return true;
    };
    if (const auto* tuple = knownContainer(args.empty() ? ScriptItem() : args[0], Kind::Tuple)) {
        if (node.kind() == c10::prim::TupleIndex)
            if (const auto at = indexInto(args.at(1), tuple->items.size()))
                return bind(tuple->items[*at]);
        if (node.kind() == c10::prim::TupleSlice) {
            const auto first = tuple->items.begin();
            return bind(
                makeContainer(Kind::Tuple, node.output()->type(),
                              {first + node.i(c10::attr::beg), first + node.i(c10::attr::end)}));
        }
    }
    if (kind == "aten::size" && args.size() == 1)
        if (const auto* tensor = runtimeValue(args[0])) {
            ScriptItem made = makeContainer(Kind::List, node.output()->type(), {});
            containerOf(made)->sizesOf = *tensor;
            return bind(std::move(made));
        }
    if (args.empty())
        return false;
    const ScriptContainer* first = containerOf(args[0]);
    if (first && first->sizesOf) {
        QS_TRY(const bool done, runSizes(node, args, env));
        if (done)
            return true;
    }
    if (knownContainer(args[0], Kind::List)) {
        QS_TRY(const bool changed, changeKnownList(node, args, env));
        if (changed)
            return true;
        return runKnownList(node, args, env);
    }
    if (knownContainer(args[0], Kind::Dict))
        return runKnownDict(node, args, env);
    return false;
}

Result<bool> ScriptEvaluator::runSizes(const JitNode& node, const Items& args, Env& env)
{
    const std::string kind = node.kind().toQualString();
    const ScriptContainerPtr list = std::get<ScriptContainerPtr>(args[0]);
    const ScopedRef tensor = *list->sizesOf;
    if (kind == "aten::__getitem__") {
        QS_TRY(env[node.output()], sizeOf(tensor, args.at(1), &node));
        return true;
    }
    const auto rank = decidableRank(tensor);
    if (kind == "aten::len") {
        env[node.output()] = rank
            ? ScriptItem(at::IValue(*rank))
            : ScriptItem(
                emitOne(kRankTarget, {{"self", *m_scope->use(tensor)}}, ValueKind::SymInt, &node));
        return true;
    }
    if (!rank && kind == "aten::slice" && args.size() == 4) {
        // The last ones have the same names whatever the rank.
        const auto *first = knownValue(args[1]), *last = knownValue(args[2]),
                   *step = knownValue(args[3]);
        const bool toEnd
            = last && (last->isNone() || (last->isInt() && last->toInt() == INT64_MAX));
        constexpr std::int64_t kMost = 16;
        if (!first || !first->isInt() || first->toInt() >= 0 || first->toInt() < -kMost || !toEnd
            || !step || !step->isInt() || step->toInt() != 1)
            return false;
        std::vector<ScriptItem> sizes;
        for (std::int64_t d = first->toInt(); d < 0; ++d) {
            QS_TRY(ScriptItem size, sizeOf(tensor, at::IValue(d), &node));
            sizes.push_back(std::move(size));
        }
        env[node.output()] = makeContainer(Kind::List, node.output()->type(), std::move(sizes));
        return true;
    }
    if (!rank)
        return false;
    // With the rank known the list is one of sizes like any other.
    std::vector<ScriptItem> sizes;
    for (std::int64_t d = 0; d < *rank; ++d) {
        QS_TRY(ScriptItem size, sizeOf(tensor, at::IValue(d), &node));
        sizes.push_back(std::move(size));
    }
    auto known = std::make_shared<ScriptContainer>(*list);
    known->sizesOf.reset();
    known->items = std::move(sizes);
    Items given = args;
    given[0] = known;
    QS_TRY(const bool changed, changeKnownList(node, given, env));
    if (!changed)
        return runKnownList(node, given, env);
    m_journal.touch(list);
    ScriptJournal::setContents(*list, ScriptJournal::contentsOf(*known));
    for (const JitValue* out : node.outputs())
        if (containerOf(env[out]) == known.get())
            env[out] = list;
    return true;
}

Result<bool> ScriptEvaluator::runKnownList(const JitNode& node, const Items& args, Env& env)
{
    const std::string kind = node.kind().toQualString();
    const ScriptContainer& list = *containerOf(args[0]);
    const auto bind = [&](ScriptItem value) {
        env[node.output()] = std::move(value);
        return true;
    };
    if (kind == "aten::len")
        return bind(at::IValue(std::int64_t(list.items.size())));
    if (kind == "aten::__getitem__") {
        if (const auto at = indexInto(args.at(1), list.items.size()))
            return bind(list.items[*at]);
        if (const auto* index = knownValue(args.at(1)); index && index->isInt())
            return fail(unsupported(node,
                                    "reads element " + std::to_string(index->toInt()) + " of "
                                        + std::to_string(list.items.size())));
        return false;
    }
    const auto copy = [&](std::vector<ScriptItem> items) {
        return bind(makeContainer(Kind::List, node.output()->type(), std::move(items)));
    };
    if (kind == "aten::list" || kind == "aten::copy")
        return copy(list.items);
    if (kind == "aten::dict") {
        auto made = dictOfPairs(list.items, node.output()->type());
        return made ? bind(std::move(*made)) : Result<bool>(false);
    }
    if (kind == "aten::slice" && args.size() == 4) {
        const std::int64_t count = std::int64_t(list.items.size());
        const auto bound = [&](const ScriptItem& item, std::int64_t missing) {
            const auto* value = knownValue(item);
            if (!value || (!value->isInt() && !value->isNone()))
                return std::optional<std::int64_t>();
            std::int64_t at = value->isNone() ? missing : value->toInt();
            return std::optional(std::clamp<std::int64_t>(at < 0 ? at + count : at, 0, count));
        };
        const auto begin = bound(args[1], 0), end = bound(args[2], count);
        const auto* step = knownValue(args[3]);
        if (!begin || !end || !step || !step->isInt() || step->toInt() < 1)
            return false;
        std::vector<ScriptItem> part;
        for (std::int64_t i = *begin; i < *end; i += step->toInt())
            part.push_back(list.items[std::size_t(i)]);
        return copy(std::move(part));
    }
    if (kind == "aten::add" && args.size() == 2)
        if (const auto* other = knownContainer(args[1], Kind::List)) {
            auto items = list.items;
            items.insert(items.end(), other->items.begin(), other->items.end());
            return copy(std::move(items));
        }
    if (kind == "aten::mul" && args.size() == 2)
        if (const auto* times = knownValue(args[1]); times && times->isInt()) {
            constexpr std::size_t kLongest = 4096;
            std::vector<ScriptItem> items;
            for (std::int64_t i = 0; i < times->toInt(); ++i) {
                if (items.size() + list.items.size() > kLongest)
                    return false;
                items.insert(items.end(), list.items.begin(), list.items.end());
            }
            return copy(std::move(items));
        }
    return false;
}

Result<bool> ScriptEvaluator::changeKnownList(const JitNode& node, const Items& args, Env& env)
{
    const std::string kind = node.kind().toQualString();
    const ScriptContainerPtr list = std::get<ScriptContainerPtr>(args[0]);
    auto& items = list->items;
    const auto done = [&](ScriptItem value) {
        if (!node.outputs().empty())
            env[node.output()] = std::move(value);
        return true;
    };
    if (kind == "aten::append") {
        m_journal.touch(list);
        items.push_back(args.at(1));
        return done(args[0]);
    }
    if (kind == "aten::extend" || kind == "aten::add_") {
        const auto* other = knownContainer(args.at(1), Kind::List);
        if (!other)
            return false;
        const std::vector<ScriptItem> more = other->items;
        m_journal.touch(list);
        items.insert(items.end(), more.begin(), more.end());
        return done(args[0]);
    }
    if (kind == "aten::clear" || kind == "aten::reverse") {
        m_journal.touch(list);
        if (kind == "aten::clear")
            items.clear();
        else
            std::reverse(items.begin(), items.end());
        return done(at::IValue());
    }
    if (kind == "aten::insert" && args.size() == 3)
        if (const auto* at = knownValue(args[1]); at && at->isInt()) {
            m_journal.touch(list);
            const std::int64_t count = std::int64_t(items.size());
            const std::int64_t where = at->toInt() < 0 ? at->toInt() + count : at->toInt();
            items.insert(items.begin() + std::clamp<std::int64_t>(where, 0, count), args[2]);
            return done(at::IValue());
        }
    const bool pops = kind == "aten::pop", sets = kind == "aten::_set_item";
    if (!pops && !sets && kind != "aten::Delete")
        return false;
    const ScriptItem index = args.size() > 1 ? args[1] : ScriptItem(at::IValue(std::int64_t(-1)));
    const auto at = indexInto(index, items.size());
    if (!at)
        return false;
    m_journal.touch(list);
    ScriptItem old = items[*at];
    if (sets)
        items[*at] = args.at(2);
    else
        items.erase(items.begin() + std::ptrdiff_t(*at));
    return done(sets ? args[0] : old);
}

Result<bool> ScriptEvaluator::runKnownDict(const JitNode& node, const Items& args, Env& env)
{
    const std::string kind = node.kind().toQualString();
    const ScriptContainerPtr dict = std::get<ScriptContainerPtr>(args[0]);
    const auto bind = [&](ScriptItem value) {
        if (!node.outputs().empty())
            env[node.output()] = std::move(value);
        return true;
    };
    const auto list = [&](std::vector<ScriptItem> items) {
        return bind(makeContainer(Kind::List, node.output()->type(), std::move(items)));
    };
    if (kind == "aten::len")
        return bind(at::IValue(std::int64_t(dict->items.size())));
    if (kind == "aten::keys")
        return list({dict->keys.begin(), dict->keys.end()});
    if (kind == "aten::values")
        return list(dict->items);
    if (kind == "aten::items") {
        std::vector<ScriptItem> pairs;
        const auto type = node.output()->type()->expectRef<c10::ListType>().getElementType();
        for (std::size_t i = 0; i < dict->keys.size(); ++i)
            pairs.push_back(makeContainer(Kind::Tuple, type, {dict->keys[i], dict->items[i]}));
        return list(std::move(pairs));
    }
    if (kind == "aten::copy" || kind == "aten::dict") {
        ScriptItem made = makeContainer(Kind::Dict, dict->type, dict->items);
        containerOf(made)->keys = dict->keys;
        return bind(std::move(made));
    }
    const auto* key = args.size() > 1 ? knownValue(args[1]) : nullptr;
    if (!key)
        return fail(unsupported(node, "uses a dict with a key known only at run time"));
    const auto at = findKey(*dict, *key);
    if (kind == "aten::__contains__")
        return bind(at::IValue(at.has_value()));
    if (kind == "aten::__getitem__" && at)
        return bind(dict->items[*at]);
    if (kind == "aten::get")
        return bind(at ? dict->items[*at] : args.size() > 2 ? args[2] : ScriptItem(at::IValue()));
    if (kind == "aten::_set_item" || (kind == "aten::setdefault" && args.size() == 3)) {
        if (kind == "aten::setdefault" && at)
            return bind(dict->items[*at]);
        m_journal.touch(dict);
        if (at) {
            dict->items[*at] = args.at(2);
        } else {
            dict->keys.push_back(*key);
            dict->items.push_back(args.at(2));
        }
        return bind(args.at(2));
    }
    if ((kind == "aten::pop" || kind == "aten::Delete") && at) {
        m_journal.touch(dict);
        ScriptItem old = dict->items[*at];
        dict->items.erase(dict->items.begin() + std::ptrdiff_t(*at));
        dict->keys.erase(dict->keys.begin() + std::ptrdiff_t(*at));
        return bind(std::move(old));
    }
    return fail(unsupported(node, "uses a dict in a way that is not read (a missing key?)"));
}

} // namespace qs
