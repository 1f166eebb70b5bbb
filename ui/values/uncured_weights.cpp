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
    m_known.reset();
    m_isReading = false;
}

const WeightRanges* UncuredWeights::ask(const std::string& node)
{
    if (m_known) {
        const auto found = m_known->find(node);
        return found == m_known->end() ? nullptr : &found->second;
    }
    const Document& document = m_workspace.document();
    if (m_isReading || !document.edited() || modelCures(document.recipe()).empty())
        return nullptr;
    m_isReading = true;
    Pipeline& pipeline = m_workspace.pipeline();
    pipeline.jobs().run(
        Lane::Pool, kUncuredTag,
        [engine = &pipeline.engine(), file = document.edited()->file, recipe = document.recipe()](
            JobContext& job) { return engine->uncuredWeights(file, recipe, job); },
        this,
        [this](Result<std::map<std::string, WeightRanges>> read) {
            m_isReading = false;
            m_known = std::move(read).value_or(std::map<std::string, WeightRanges>());
            Q_EMIT arrived();
        });
    return nullptr;
}

} // namespace qs
