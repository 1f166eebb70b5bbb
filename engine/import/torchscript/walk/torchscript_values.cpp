// SPDX-License-Identifier: Apache-2.0
#include "engine/import/torchscript/walk/torchscript_values.h"

#include <algorithm>

namespace qs {

ScriptContainer* knownContainer(const ScriptItem& item, ScriptContainer::Kind kind)
{
    ScriptContainer* held = containerOf(item);
    return held && held->kind == kind && !held->runtime && !held->sizesOf ? held : nullptr;
}

ScriptItem makeContainer(ScriptContainer::Kind kind, c10::TypePtr type,
                         std::vector<ScriptItem> items)
{
    auto made = std::make_shared<ScriptContainer>();
    made->kind = kind;
    made->type = std::move(type);
    made->items = std::move(items);
    return made;
}

bool sameItem(const ScriptItem& a, const ScriptItem& b)
{
    if (a.index() != b.index())
        return false;
    if (const auto* known = knownValue(a)) {
        const at::IValue& other = *knownValue(b);
        return known->tagKind() == other.tagKind() && *known == other;
    }
    if (const auto* ref = runtimeValue(a))
        return ref->scope == runtimeValue(b)->scope && ref->ref == runtimeValue(b)->ref;
    const auto* left = containerOf(a);
    const auto* right = containerOf(b);
    if (left == right)
        return true;
    if (left->kind != ScriptContainer::Kind::Tuple || right->kind != left->kind
        || left->items.size() != right->items.size())
        return false;
    return std::equal(left->items.begin(), left->items.end(), right->items.begin(), sameItem);
}

ScriptJournal::Contents ScriptJournal::contentsOf(const ScriptContainer& container)
{
    return {container.items, container.keys, container.runtime, container.sizesOf};
}

void ScriptJournal::setContents(ScriptContainer& container, Contents contents)
{
    container.items = std::move(contents.items);
    container.keys = std::move(contents.keys);
    container.runtime = contents.runtime;
    container.sizesOf = contents.sizesOf;
}

void ScriptJournal::touch(const ScriptContainerPtr& container)
{
    if (m_marks.empty())
        return;
    auto& saved = m_marks.back();
    const bool known = std::any_of(saved.begin(), saved.end(), [&](const Saved& entry) {
        return entry.container == container;
    });
    if (!known)
        saved.push_back({container, contentsOf(*container)});
}

ScriptJournal::Changes ScriptJournal::closeAndRestore()
{
    Changes changes;
    for (auto& entry : m_marks.back()) {
        changes.emplace_back(entry.container, contentsOf(*entry.container));
        setContents(*entry.container, std::move(entry.before));
    }
    m_marks.pop_back();
    return changes;
}

void ScriptJournal::closeAndKeep()
{
    auto inner = std::move(m_marks.back());
    m_marks.pop_back();
    if (m_marks.empty())
        return;
    auto& outer = m_marks.back();
    for (auto& entry : inner)
        if (std::none_of(outer.begin(), outer.end(),
                         [&](const Saved& saved) { return saved.container == entry.container; }))
            outer.push_back(std::move(entry));
}

} // namespace qs
