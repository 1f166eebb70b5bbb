// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/graph/graph_forms.h"

#include "ui/session/coalesce.h"
#include "ui/session/jobs/plan_wait.h"
#include "ui/session/shown_conversion.h"
#include "ui/session/workspace.h"

namespace qs {

namespace {

const QString kFormsTag = QStringLiteral("graphForms");

struct MadeForms
{
    std::array<GraphForm, kCodeForms.size()> forms;
    QString note;
};

GraphForm formOf(const GraphPtr& graph)
{
    return {graph, graph ? FoldTree::build(*graph, nullptr) : nullptr};
}

} // namespace

GraphForms::GraphForms(Workspace& workspace, QObject* parent)
    : QObject(parent)
    , m_workspace(workspace)
{
    const auto later = coalesced(this, [this] { drop(); });
    connect(&workspace.document(), &Document::modelChanged, this, later);
    connect(&workspace.document(), &Document::planChanged, this, later);
    connect(&workspace.pipeline(), &Pipeline::failed, this, [later](Stage stage) {
        if (stage == Stage::Plan)
            later();
    });
    connect(&workspace.document(), &Document::resultsChanged, this, later);
}

GraphForm GraphForms::form(CodeForm form) const
{
    if (form == CodeForm::Float)
        return {m_workspace.document().model(), m_workspace.foldTree()};
    return m_forms[std::size_t(form)];
}

void GraphForms::drop()
{
    const bool wanted = m_wanted;
    m_wanted = m_made = false;
    m_forms = {};
    m_note.clear();
    if (wanted)
        want();
}

void GraphForms::want()
{
    const auto& document = m_workspace.document();
    const GraphPtr model = document.model();
    const PlanPtr plan = document.plan();
    if (m_wanted)
        return;
    m_wanted = true;
    if (!model || !plan) {
        m_note = planWaitText(m_workspace.pipeline());
        Q_EMIT changed();
        return;
    }
    m_note = tr("Converting…");
    Q_EMIT changed();
    ConvertedPtr converted = document.isStale(Stage::Convert) ? nullptr : document.converted();
    auto& engine = m_workspace.pipeline().engine();
    // An outline runs operators: it waits on the engine lane for a running stage.
    m_workspace.pipeline().jobs().run(
        converted ? Lane::Pool : Lane::Engine, kFormsTag,
        [&engine, model, plan, converted, recipe = document.recipe()](JobContext& job) mutable {
            MadeForms out;
            const ShownConversion shown
                = shownConversion(engine, model, plan, recipe, std::move(converted), job);
            out.note = shown.note;
            if (const auto& converted = shown.converted) {
                out.forms[std::size_t(CodeForm::Prepared)] = formOf(converted->prepared->graph);
                out.forms[std::size_t(CodeForm::Reference)] = formOf(converted->reference);
                out.forms[std::size_t(CodeForm::Lowered)] = formOf(converted->lowered);
            }
            return out;
        },
        this,
        [this](MadeForms made) {
            m_forms = std::move(made.forms);
            m_note = std::move(made.note);
            m_made = true;
            Q_EMIT changed();
        });
}

} // namespace qs
