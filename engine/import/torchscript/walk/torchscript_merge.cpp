// SPDX-License-Identifier: Apache-2.0
#include "engine/import/torchscript/walk/torchscript_control.h"

#include <algorithm>

namespace qs {

namespace {

using Kind = ScriptContainer::Kind;

bool isNone(const ScriptItem& item)
{
    const auto* value = knownValue(item);
    return value && value->isNone();
}

bool mayBeNone(const ScriptItem& item)
{
    const auto* ref = runtimeValue(item);
    return isNone(item) || (ref && ref->maybeNone);
}

bool isMissing(const ScriptItem& item)
{
    return std::holds_alternative<std::monostate>(item);
}

bool isVisible(const ScopedRef& ref, const ScriptScope* from)
{
    while (from && from != ref.scope)
        from = from->parent();
    return from != nullptr;
}

/// True for a value, or a list known only at run time, that is not visible in `outer`.
bool isInner(const ScriptItem& item, const ScriptScope* outer)
{
    if (const auto* ref = runtimeValue(item))
        return !isVisible(*ref, outer);
    const ScriptContainer* held = containerOf(item);
    return held
        && ((held->runtime && !isVisible(*held->runtime, outer))
            || (held->sizesOf && !isVisible(*held->sizesOf, outer)));
}

/// Returns the known type of an item's run-time value.
ValueType itemType(const ScriptItem& item)
{
    if (const auto* ref = runtimeValue(item))
        return ref->scope->value(ref->ref).type;
    if (const auto* value = knownValue(item))
        return runtimeType(value->type());
    if (const auto* held = containerOf(item))
        return runtimeType(held->type);
    return {};
}

} // namespace

ScriptPattern ScriptPattern::of(const ScriptItem& item, const ScriptScope* outer)
{
    ScriptPattern made;
    made.m_outer = outer;
    if (isInner(item, outer)) {
        made.becomeLeaf(item, item);
        return made;
    }
    const ScriptContainer* held = takenApart(item);
    if (!held) {
        made.m_fixed = item;
        return made;
    }
    made.m_form = Form::Parts;
    made.m_fixed = item;
    for (const ScriptItem& part : held->items)
        made.m_parts.push_back(of(part, outer));
    return made;
}

void ScriptPattern::becomeLeaf(const ScriptItem& a, const ScriptItem& b)
{
    const ScriptItem& telling = isNone(a) || isMissing(a) ? b : a;
    m_form = Form::Leaf;
    m_type = itemType(telling);
    const ValueType other = itemType(b);
    if (!isNone(b) && !isMissing(b)) {
        if (other.dtype != m_type.dtype)
            m_type.dtype = DType::Unknown;
        if (other.shapeKnown != m_type.shapeKnown || other.shape != m_type.shape) {
            m_type.shapeKnown = false;
            m_type.shape.clear();
        }
    }
    m_maybeNone = mayBeNone(a) || mayBeNone(b);
    const ScriptContainer* held = containerOf(telling);
    if (held && (held->kind == Kind::List || held->kind == Kind::Dict))
        m_listType = held->type;
    m_parts.clear();
}

bool ScriptPattern::join(const ScriptItem& item)
{
    if (isMissing(item))
        return false;
    if (m_form == Form::Leaf) {
        const bool knew = std::exchange(m_maybeNone, m_maybeNone || mayBeNone(item));
        return m_maybeNone && !knew;
    }
    if (m_form == Form::Fixed) {
        if (sameItem(m_fixed, item))
            return false;
        if (isMissing(m_fixed)) {
            *this = of(item, m_outer);
            return true;
        }
        becomeLeaf(m_fixed, item);
        return true;
    }
    const ScriptContainer* held = takenApart(item);
    if (!held || held->kind != containerOf(m_fixed)->kind || held->items.size() != m_parts.size()
        || !std::equal(held->keys.begin(), held->keys.end(), containerOf(m_fixed)->keys.begin(),
                       containerOf(m_fixed)->keys.end(), sameItem)) {
        becomeLeaf(m_fixed, item);
        return true;
    }
    bool changed = false;
    for (std::size_t i = 0; i < m_parts.size(); ++i)
        changed = m_parts[i].join(held->items[i]) || changed;
    return changed;
}

void ScriptPattern::collect(const ScriptItem& item, std::vector<ScriptItem>& leaves) const
{
    if (m_form == Form::Leaf) {
        leaves.push_back(item);
        return;
    }
    const ScriptContainer* held = takenApart(item);
    for (std::size_t i = 0; i < m_parts.size(); ++i)
        m_parts[i].collect(held && i < held->items.size() ? held->items[i] : ScriptItem(), leaves);
}

ScriptItem ScriptPattern::build(const std::vector<ScopedRef>& values, std::size_t& next) const
{
    if (m_form == Form::Fixed)
        return m_fixed;
    if (m_form == Form::Leaf) {
        ScopedRef ref = values.at(next++);
        ref.maybeNone = m_maybeNone;
        return m_listType ? runtimeItem(ref, m_listType) : ref;
    }
    const std::size_t before = next;
    const ScriptContainer& whole = *containerOf(m_fixed);
    ScriptItem made = makeContainer(whole.kind, whole.type, {});
    containerOf(made)->keys = whole.keys;
    for (const ScriptPattern& part : m_parts)
        containerOf(made)->items.push_back(part.build(values, next));
    // No part differs: the container keeps its identity.
    return next == before ? m_fixed : made;
}

void ScriptPattern::types(std::vector<ValueType>& out) const
{
    if (m_form == Form::Leaf)
        out.push_back(m_type);
    for (const ScriptPattern& part : m_parts)
        part.types(out);
}

std::vector<ValueType> leafTypes(const std::vector<ScriptPattern>& patterns)
{
    std::vector<ValueType> types;
    for (const ScriptPattern& pattern : patterns)
        pattern.types(types);
    return types;
}

std::vector<ScriptItem> itemsOf(const std::vector<ScriptPattern>& patterns,
                                const std::vector<ScopedRef>& values)
{
    std::size_t next = 0;
    std::vector<ScriptItem> items;
    for (const ScriptPattern& pattern : patterns)
        items.push_back(pattern.build(values, next));
    return items;
}

} // namespace qs
