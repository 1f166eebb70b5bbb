// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panels/cards/why_card.h"

#include "engine/base/text.h"
#include "engine/configure/quantization_mode.h"
#include "engine/plan/summaries/coverage.h"
#include "ui/graph/style/graph_style.h"
#include "ui/session/decisions/backend_decisions.h"
#include "ui/session/decisions/cure_decisions.h"
#include "ui/session/decisions/edge_decisions.h"
#include "ui/session/jobs/plan_wait.h"
#include "ui/session/text.h"
#include "ui/session/workspace.h"
#include "ui/style/theme.h"
#include "ui/style/widgets.h"

#include <QLocale>
#include <QPushButton>

#include <cmath>

namespace qs {

namespace {

/// Returns "2⁻¹²" if eps is a power of two, else the number.
QString epsText(double eps)
{
    int exponent = 0;
    if (eps > 0 && std::frexp(eps, &exponent) == 0.5) {
        static const QString digits = QStringLiteral("⁰¹²³⁴⁵⁶⁷⁸⁹");
        QString raised;
        for (const QChar c : QString::number(std::abs(exponent - 1)))
            raised += digits[c.digitValue()];
        return QStringLiteral("2%1%2").arg(exponent - 1 < 0 ? QStringLiteral("⁻") : QString(),
                                           raised);
    }
    return QString::number(eps, 'g', 3);
}

QString patternText(const std::vector<std::string>& pattern)
{
    return QStringLiteral("(%1)").arg(shortPattern(pattern));
}

} // namespace

WhyCard::WhyCard(Workspace& workspace, QWidget* parent)
    : Card(tr("Why"), parent)
    , m_workspace(workspace)
{
}

QString WhyCard::ruleText(const NodePlan& decided) const
{
    const Rule& rule = decided.rule;
    if (rule.kind == RuleKind::None)
        return tr("No rule applies to this node");
    const QString name
        = rule.qconfig.config ? QString::fromStdString(rule.qconfig.name) : QStringLiteral("float");
    QString key = QString::fromStdString(rule.key);
    if (!key.isEmpty())
        key = QStringLiteral(" ") + key;
    const QString cure = cureMarkOf(m_workspace.document(), rule);
    return tr("Rule: %1%2 → %3 (%4)")
        .arg(toQString(ruleKindName(rule.kind)), rule.kind == RuleKind::Node ? QString() : key,
             name,
             !cure.isEmpty()                        ? cure
                 : rule.fromBackend                 ? tr("default of the backend")
                 : rule.kind < RuleKind::ModuleName ? tr("recipe")
                                                    : tr("set by you"));
}

QString WhyCard::constraintText(const NodePlan& decided) const
{
    const auto* group = m_workspace.facts().group(decided.node);
    if (!group || !group->dtypeConfig || !decided.qconfig)
        return {};
    const auto& want = group->dtypeConfig->input;
    const auto& have = decided.qconfig->activation;
    QStringList parts;
    if (want.scaleMinLowerBound)
        parts << tr("eps %1 ≥ %2 %3")
                     .arg(epsText(have.eps), epsText(*want.scaleMinLowerBound),
                          have.eps >= *want.scaleMinLowerBound ? QStringLiteral("✓")
                                                               : QStringLiteral("✕"));
    if (want.quantMinLowerBound || want.quantMaxUpperBound) {
        const auto range = quantRange(have);
        const bool fits = range.min >= want.quantMinLowerBound.value_or(range.min)
            && range.max <= want.quantMaxUpperBound.value_or(range.max);
        parts << tr("range %1…%2 %3")
                     .arg(range.min)
                     .arg(range.max)
                     .arg(fits ? QStringLiteral("✓") : QStringLiteral("✕"));
    }
    return parts.isEmpty() ? QString()
                           : tr("Constraints: %1").arg(parts.join(QStringLiteral("  ")));
}

void WhyCard::refresh()
{
    const Filling filling(*this);
    const auto& selection = m_workspace.selection();
    const auto& facts = m_workspace.facts();
    if (!facts.hasPlan()) {
        addText(planWaitText(m_workspace.pipeline()), true);
        return;
    }
    if (selection.isModule() || m_workspace.selectedEntries().size() > 1) {
        showCoverage();
        return;
    }
    const auto* decided = facts.plan(selection.current());
    if (!decided)
        return;
    addPill(verdictText(decided->verdict), verdictColor(decided->verdict));
    if (!decided->reason.empty())
        addText(facts.titled(toQString(decided->reason.text())));
    if (!decided->note.empty())
        addText(facts.titled(QString::fromStdString(decided->note)))
            ->setObjectName(QStringLiteral("whyNote"));
    if (decided->verdict == Verdict::NotApplicable) {
        showOutputRules();
        return;
    }
    if (decided->verdict == Verdict::FloatByRule)
        showMovement(*decided);
    addText(ruleText(*decided));
    for (const auto& rule : decided->inputRules) {
        const Node* maker = facts.model()->tryFind(rule.key);
        const QString name = rule.qconfig.config ? QString::fromStdString(rule.qconfig.name)
                                                 : QStringLiteral("float");
        const QString cure = cureMarkOf(m_workspace.document(), rule);
        addText(tr("Its input from %1 → %2 (edge rule, %3)")
                    .arg(maker ? facts.title(maker->id) : toQString(rule.key), name,
                         cure.isEmpty() ? tr("set by you") : cure))
            ->setObjectName(QStringLiteral("whyInputRule"));
    }
    showOutputRules();
    for (const auto& rule : decided->overrides) {
        const QString name = rule.qconfig.config ? QString::fromStdString(rule.qconfig.name)
                                                 : QStringLiteral("float");
        addText(tr("overrides %1 %2 → %3")
                    .arg(toQString(ruleKindName(rule.kind)), QString::fromStdString(rule.key), name)
                    .simplified(),
                true);
    }
    if (!decided->pattern.empty())
        addText(tr("Pattern: %1%2")
                    .arg(patternText(decided->pattern),
                         decided->patternEntry < 0 ? QString()
                                                   : tr(" · entry %1").arg(decided->patternEntry)));
    if (decided->qconfig)
        if (const auto mode = quantizationMode(*decided->qconfig))
            addText(tr("Mode: %1").arg(toQString(quantizationModeName(*mode))))
                ->setObjectName(QStringLiteral("whyMode"));
    if (const QString constraints = constraintText(*decided); !constraints.isEmpty())
        addText(constraints);
    showCandidates(*decided);
    showRemedy(*decided);
}

/// Shows the verdicts of the module's or the selected operators.
void WhyCard::showCoverage()
{
    const Document& document = m_workspace.document();
    const Selection& selection = m_workspace.selection();
    const std::string path = selection.modulePath().toStdString();
    const bool isModule
        = selection.isModule() && (path.empty() || document.model()->modules().tryGet(path));
    const auto nodes = isModule ? operatorsIn(*document.model(), path) : selection.nodes();
    const Coverage found = coverageOf(*document.model(), *document.plan(), nodes);
    addText(toQString(found.text()))->setObjectName(QStringLiteral("whyCoverage"));
    for (const auto& [verdict, count] : found.verdicts)
        addRow(verdictText(verdict), QString::number(count));
}

/// Shows the edge rules that decide the selection's results, with a button that clears them.
void WhyCard::showOutputRules()
{
    const auto& nodes = m_workspace.selection().nodes();
    const QString text = m_workspace.facts().outputQConfigText(nodes);
    if (text.isEmpty())
        return;
    addText(tr("Its result → %1 (edge rule, set by you)").arg(text))
        ->setObjectName(QStringLiteral("whyOutputRule"));
    auto* clear = addButton(tr("Clear"));
    setNames(*clear, "clearOutputRules", tr("Clear the rule of its result"),
             tr("Quantize its result by the other rules again; can be undone"));
    connect(clear, &QPushButton::clicked, this,
            [this] { clearOutputRules(m_workspace, m_workspace.selection().nodes()); });
}

/// Shows the values converted between int8 and float because of a node.
void WhyCard::showMovement(const NodePlan& decided)
{
    const Document& document = m_workspace.document();
    if (m_movementOf != document.plan()) {
        m_movementOf = document.plan();
        m_movement.emplace(*document.model(), *m_movementOf);
    }
    const MovedAmount own = m_movement->causedBy(*m_movementOf, decided);
    if (own.values == 0)
        return;
    const QString values = toQString(counted(own.values, "value"));
    addText(own.bytes == 0 // the file does not give their shapes
                ? tr("Between int8 and float for it: %1").arg(values)
                : tr("Between int8 and float for it: %1, %2 a sample")
                      .arg(values,
                           QLocale::c().formattedDataSize(own.bytes, 1, QLocale::DataSizeSIFormat)))
        ->setObjectName(QStringLiteral("whyMovement"));
}

/// Shows the rejected configs and why each was rejected.
void WhyCard::showCandidates(const NodePlan& decided)
{
    for (const auto& candidate : decided.candidates) {
        auto* line = addText(tr("✕ %1 · entry %2: %3")
                                 .arg(patternText(candidate.pattern))
                                 .arg(candidate.entry)
                                 .arg(QString::fromStdString(candidate.text)),
                             true);
        line->setObjectName(QStringLiteral("whyCandidate"));
    }
}

void WhyCard::showRemedy(const NodePlan& decided)
{
    if (decided.remedy.text.empty())
        return;
    auto* line = addText(
        tr("Suggestion: %1")
            .arg(m_workspace.facts().titled(QString::fromStdString(decided.remedy.text))));
    line->setObjectName(QStringLiteral("whyRemedy"));
    const auto missing = decided.remedy ? std::nullopt : missingFusion(m_workspace, decided.node);
    if (!decided.remedy && !missing)
        return;
    auto* button = addButton(!missing                      ? tr("Apply")
                                 : missing->isPartnerAlone ? tr("Add its entry")
                                                           : tr("Add the fusion"));
    setNames(*button, "applyRemedy", tr("Apply the suggestion"),
             missing ? tr("Add (%1) to a copy of the backend, with all that it takes to "
                          "be quantized; can be undone")
                           .arg(shortPattern(missing->pattern))
                     : tr("Apply the suggestion; can be undone"));
    connect(button, &QPushButton::clicked, this,
            [this, node = decided.node] { Q_EMIT suggestionTaken(node); });
}

} // namespace qs
