// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/values/uncured_weights.h"

#include "ui/session/workspace.h"

#include <utility>

namespace qs {

namespace {

const QString kUncuredTag = QStringLiteral("uncuredWeight");

} // namespace

UncuredWeights::UncuredWeights(Workspace& workspace, QObject* parent)
    : QObject(parent)
    , m_workspace(workspace)
{
    const Document* document = &workspace.document();
    connect(document, &Document::recipeChanged, this, &UncuredWeights::forget);
    connect(document, &Document::modelChanged, this, &UncuredWeights::forget);
}

void UncuredWeights::forget()
{
    m_workspace.pipeline().jobs().cancel(kUncuredTag);
    m_known.clear();
    m_asked.clear();
}

const WeightRanges* UncuredWeights::ask(const std::string& node)
{
    if (const auto known = m_known.find(node); known != m_known.end())
        return known->second ? &*known->second : nullptr;
    const Document& document = m_workspace.document();
    if (node.empty() || m_asked == node || !document.edited()
        || modelCures(document.recipe()).empty())
        return nullptr;
    m_asked = node;
    Pipeline& pipeline = m_workspace.pipeline();
    pipeline.jobs().run(
        Lane::Pool, kUncuredTag,
        [engine = &pipeline.engine(), file = document.edited()->file, recipe = document.recipe(),
         node](JobContext& job) { return engine->uncuredWeight(file, recipe, node, job); },
        this,
        [this, node](Result<std::optional<WeightRanges>> read) {
            if (m_asked != node)
                return;
            m_asked.clear();
            m_known[node] = read ? std::move(*read) : std::nullopt;
            Q_EMIT arrived();
        });
    return nullptr;
}

} // namespace qs
