// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/advice.h"

#include "engine/base/text.h"
#include "engine/edit/half_precision.h"
#include "engine/plan/match/fusion_choices.h"
#include "ui/frame/message_bar.h"
#include "ui/session/text.h"
#include "ui/session/workspace.h"

#include <algorithm>

namespace qs {

namespace {

const QString kCoverage = QStringLiteral("coverage");
const QString kConflict = QStringLiteral("conflict");
const QString kHalf = QStringLiteral("half");
const QString kBackend = QStringLiteral("backend");

QString qconfigText(const NamedQConfig& qconfig)
{
    return qconfig.config ? QString::fromStdString(qconfig.name) : QStringLiteral("float");
}

} // namespace

int changedVerdicts(const Plan& a, const Plan& b)
{
    int changed = 0;
    for (std::size_t i = 0; i < std::min(a.nodes.size(), b.nodes.size()); ++i)
        changed += a.nodes[i].verdict != b.nodes[i].verdict;
    return changed;
}

Advice::Advice(Workspace& workspace, MessageBar& messages, QObject* parent)
    : QObject(parent)
    , m_workspace(workspace)
    , m_messages(messages)
{
    connect(&workspace.document(), &Document::planChanged, this, &Advice::onPlan);
}

void Advice::onPlan()
{
    const auto& document = m_workspace.document();
    const PlanPtr plan = document.plan();
    const PlanPtr before = m_modelNumber == document.modelNumber() ? m_before : nullptr;
    m_modelNumber = document.modelNumber();
    m_before = plan;
    if (!plan)
        return;
    if (sayHalf(*plan, before.get()) || sayCoverage(*plan) || sayConflict(*plan, before.get()))
        return;
    if (before && before->backend != plan->backend)
        sayBackend(*plan, *before);
}

bool Advice::sayHalf(const Plan& plan, const Plan* before)
{
    if (!holdsHalfPrecision(*m_workspace.document().model())) {
        m_messages.dismissTopic(kHalf);
        return false;
    }
    if (before && plan.quantizedOps > 0) // advised already
        return false;
    const auto act = [this] {
        Recipe recipe = m_workspace.document().recipe();
        recipe.edits = withFloat32(std::move(recipe.edits));
        m_workspace.change(tr("convert the model to float32"), std::move(recipe));
    };
    m_messages.showChoices(
        MessageBar::Kind::Warning, kHalf, tr("The model is float16 or bfloat16"),
        tr("Only float32 is quantized: %1 of %2 as it is.")
            .arg(plan.quantizedOps)
            .arg(toQString(counted(plan.totalOps, "operator"))),
        {},
        {{tr("Convert to float32"),
          tr("Converts weights, inputs and casts, as an edit that the recipe keeps"), act}});
    return true;
}

bool Advice::sayCoverage(const Plan& plan)
{
    if (plan.quantizedOps > 0 || plan.totalOps == 0) {
        m_messages.dismissTopic(kCoverage);
        return false;
    }
    const auto main = mainReason(plan);
    QString detail = tr("Exports would be the float model.");
    QString node;
    std::vector<MessageBar::Choice> choices;
    if (main) {
        detail = toQString(counted(main->count, "operator") + ": " + main->node->reason.text());
        detail = m_workspace.facts().titled(detail);
        const NodeId first = main->node->node;
        node = QString::fromStdString(m_workspace.document().model()->get(first).name);
        if (main->node->remedy)
            choices.push_back({tr("Apply suggestion"),
                               QString::fromStdString(main->node->remedy.text),
                               [this, first] { m_workspace.applyRemedy(first); }});
    }
    m_messages.showChoices(
        MessageBar::Kind::Error, kCoverage,
        tr("Nothing will be quantized: 0 of %1").arg(toQString(counted(plan.totalOps, "operator"))),
        detail, node, std::move(choices));
    return true;
}

bool Advice::sayConflict(const Plan& plan, const Plan* before)
{
    if (plan.conflicts.empty()) {
        m_messages.dismissTopic(kConflict);
        return false;
    }
    const auto isNew = [before](const FusionConflict& conflict) {
        return !before
            || std::find(before->conflicts.begin(), before->conflicts.end(), conflict)
            == before->conflicts.end();
    };
    const auto found = std::find_if(plan.conflicts.begin(), plan.conflicts.end(), isNew);
    if (found == plan.conflicts.end())
        return false;
    const FusionConflict& conflict = *found;
    const QString member = toQString(nodeTitle(*m_workspace.document().model(), conflict.member));
    const QString root = toQString(nodeTitle(*m_workspace.document().model(), conflict.root));
    const QString name = toQString(m_workspace.document().model()->get(conflict.member).name);
    const QString wanted = qconfigText(conflict.memberQConfig);
    QString detail = tr("%1 is fused into %2, whose qconfig %3 counts for both.")
                         .arg(member, root, qconfigText(conflict.rootQConfig));
    if (plan.conflicts.size() > 1)
        detail += tr(" %1 such conflicts in all: see Findings.").arg(plan.conflicts.size());
    const auto act = [this](const QString& text, auto make) {
        return [this, text, make] { m_workspace.change(text, make(m_workspace.document())); };
    };
    std::vector<MessageBar::Choice> choices;
    choices.push_back(
        {tr("Unfuse"),
         tr("Do not fuse %1 with %2, so that it uses its separate qconfig").arg(member, root),
         act(tr("unfuse %1").arg(member), [conflict](const Document& document) {
             return unfuse(document.recipe(), *document.model(), conflict);
         })});
    choices.push_back({tr("Apply to both"),
                       tr("Give %1 and %2 the qconfig %3").arg(root, member, wanted),
                       act(tr("set %1 and %2 to %3").arg(root, member, wanted),
                           [conflict](const Document& document) {
                               return applyToFusion(document.recipe(), *document.model(),
                                                    *document.plan(), conflict);
                           })});
    m_messages.showChoices(MessageBar::Kind::Warning, kConflict,
                           tr("The rule that gives %1 %2 has no effect").arg(member, wanted),
                           detail, name, std::move(choices));
    return true;
}

void Advice::sayBackend(const Plan& plan, const Plan& before)
{
    const int changed = changedVerdicts(plan, before);
    m_messages.showChoices(
        MessageBar::Kind::Note, kBackend,
        tr("Backend %1 instead of %2: %3 of %4 operators change verdict")
            .arg(QString::fromStdString(plan.backend), QString::fromStdString(before.backend))
            .arg(changed)
            .arg(plan.totalOps),
        tr("%1 quantized, %2 before.").arg(plan.quantizedOps).arg(before.quantizedOps), {}, {});
}

} // namespace qs
