// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panels/recipe/qconfig_editor.h"

#include "ui/graph/style/graph_style.h"
#include "ui/panels/recipe/qconfig_box.h"
#include "ui/session/decisions/backend_decisions.h"
#include "ui/session/decisions/choices_for.h"
#include "ui/session/decisions/float_result.h"
#include "ui/session/decisions/trained_ranges.h"
#include "ui/session/text.h"
#include "ui/session/workspace.h"
#include "ui/style/property_cards.h"
#include "ui/style/theme.h"
#include "ui/style/widgets.h"

#include <QCheckBox>
#include <QComboBox>
#include <QGridLayout>
#include <QSignalBlocker>

#include <algorithm>

namespace qs {

namespace {

const Rule* ownRule(const Recipe& recipe, const AssignTarget& target)
{
    if (target.keys.empty())
        return nullptr;
    for (const auto& rule : recipe.mapping.rules)
        if (rule.kind == target.kind && rule.key == target.keys.front())
            return &rule;
    return nullptr;
}

} // namespace

QConfigEditor::QConfigEditor(Workspace& workspace, QWidget* parent)
    : QWidget(parent)
    , m_workspace(workspace)
    , m_qconfig(new QConfigBox(this))
    , m_scope(new QComboBox(this))
    , m_activation(new ElidedLabel(QString(), uiFont(11.5), this))
    , m_weight(new ElidedLabel(QString(), uiFont(11.5), this))
    , m_floatResult(new QCheckBox(tr("Float result"), this))
{
    setObjectName(QStringLiteral("qconfigEditor"));
    setNames(*m_qconfig, "qconfigBox", tr("Qconfig of the selection"),
             tr("The qconfig of the selection; can be undone"));
    setNames(*m_scope, "scopeBox", tr("What else gets the qconfig"),
             tr("What a choice above applies to"));
    m_scope->setFont(uiFont(11.5));
    m_scope->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    m_scope->setMinimumContentsLength(8);
    auto* grid = new QGridLayout(this);
    grid->setContentsMargins(0, 0, 0, 0);
    grid->setHorizontalSpacing(10);
    grid->setVerticalSpacing(5);
    grid->setColumnMinimumWidth(0, px(66));
    grid->setColumnStretch(1, 1);
    const std::pair<QString, QWidget*> rows[] = {{tr("Qconfig"), m_qconfig},
                                                 {tr("Activation"), m_activation},
                                                 {tr("Weight"), m_weight},
                                                 {tr("Result"), m_floatResult},
                                                 {tr("Scope"), m_scope}};
    int row = 0;
    for (const auto& [label, widget] : rows) {
        auto* name = makeMutedLabel(label, 11.5, this);
        grid->addWidget(name, row, 0);
        grid->addWidget(widget, row++, 1);
    }
    setNames(*m_floatResult, "floatResult", tr("Float result"),
             tr("The result of the selected layers is not quantized; can be undone"));
    m_floatResult->setFont(uiFont(11.5));
    m_activation->setObjectName(QStringLiteral("qconfigActivation"));
    m_weight->setObjectName(QStringLiteral("qconfigWeight"));
    for (auto* label : {m_activation, m_weight}) {
        label->setMinimumHeight(px(24));
        label->setStyleSheet(QStringLiteral("padding-left: 8px;"));
    }
    connect(m_qconfig, &QComboBox::activated, this, &QConfigEditor::apply);
    connect(m_scope, &QComboBox::activated, this, [this] { fillQConfigs(); });
    connect(m_floatResult, &QCheckBox::clicked, this, [this](bool isFloat) {
        setFloatResult(m_workspace, m_workspace.selection().nodes(), isFloat);
    });
}

void QConfigEditor::refresh()
{
    // Keep the scope for the same selection; a new selection starts with the narrowest.
    auto fresh = assignScopes(m_workspace);
    const bool same
        = !fresh.empty() && !m_scopes.empty() && fresh.front().target == m_scopes.front().target;
    const QString before = same ? m_scope->currentText() : QString();
    m_scopes = std::move(fresh);
    {
        const QSignalBlocker quiet(m_scope);
        m_scope->clear();
        for (const auto& scope : m_scopes)
            m_scope->addItem(scope.text);
        m_scope->setCurrentIndex(std::max(0, m_scope->findText(before)));
    }
    setEnabled(!m_scopes.empty());
    m_activation->setText(specText(false));
    m_weight->setText(specText(true));
    showFloatResult();
    fillQConfigs();
}

void QConfigEditor::showFloatResult()
{
    const auto choice = floatResultOf(m_workspace, m_workspace.selection().nodes());
    m_floatResult->setChecked(choice.isOn);
    m_floatResult->setEnabled(choice.isOpen);
    m_floatResult->setToolTip(choice.why);
}

void QConfigEditor::fillQConfigs()
{
    const auto effective = m_workspace.facts().qconfigText(m_workspace.selection().nodes());
    const QString byRule = effective.isEmpty() ? tr("by rule") : tr("%1 (by rule)").arg(effective);
    const int scope = m_scope->currentIndex();
    const AssignTarget target = scope < 0 ? AssignTarget() : m_scopes[std::size_t(scope)].target;
    m_qconfig->setRecommendedHeading(
        tr("Recommended on %1").arg(backendTitle(m_workspace.document().recipe())));
    m_qconfig->setChoices(
        byRule, m_workspace.qconfigNames(),
        [this, target] { return choicesFor(m_workspace, target); }, true);
    const auto* rule = ownRule(m_workspace.document().recipe(), target);
    m_qconfig->showDecided(
        rule ? std::optional(rule->qconfig.config ? rule->qconfig.name : std::string())
             : std::nullopt);
    // Edge rules decide the node's result; the first entry ("by rule") removes them.
    const auto& nodes = m_workspace.selection().nodes();
    if (target.kind == RuleKind::Node && !m_workspace.facts().outputQConfigText(nodes).isEmpty())
        m_qconfig->showKept(m_workspace.facts().decisionText(nodes, true));
}

void QConfigEditor::apply(int index)
{
    const int scope = m_scope->currentIndex();
    if (scope < 0)
        return;
    const AssignTarget& target = m_scopes[std::size_t(scope)].target;
    switch (m_qconfig->kindAt(index)) {
    case QConfigBox::Kind::Heading:
    case QConfigBox::Kind::Kept:
        return;
    case QConfigBox::Kind::New:
        fillQConfigs();
        Q_EMIT newQConfigWanted();
        return;
    default:
        break;
    }
    if (const QConfigChoice* made = m_qconfig->newChoiceAt(index))
        assignNew(m_workspace, target, made->name, made->config);
    else
        m_workspace.assign(target, m_qconfig->nameAt(index));
}

/// Returns the node that represents the selection: the first quantized one with a weight, else the
/// first quantized one.
NodeId QConfigEditor::firstQuantized() const
{
    const auto& facts = m_workspace.facts();
    NodeId found;
    for (NodeId node : m_workspace.selection().nodes()) {
        const auto* decided = facts.plan(node);
        if (!decided || !decided->qconfig)
            continue;
        if (facts.weightObserver(node))
            return node;
        if (!found)
            found = node;
    }
    return found;
}

QString QConfigEditor::specText(bool weight) const
{
    const auto& facts = m_workspace.facts();
    const auto& selection = m_workspace.selection();
    const NodeId node = selection.current() ? selection.current() : firstQuantized();
    const auto* decided = facts.plan(node);
    if (facts.qconfigText(selection.nodes()) == QLatin1String("mixed"))
        return QStringLiteral("mixed");
    if (!decided || !decided->qconfig)
        return QStringLiteral("float");
    const auto* observer
        = facts.observer(weight ? facts.weightObserver(node) : facts.outputObserver(node));
    if (weight && !observer)
        return tr("no weight");
    const ObserverSpec& spec = observer ? observer->spec
        : weight                        ? decided->qconfig->weight
                                        : decided->qconfig->activation;
    QString out = toQString(dtypeName(spec.dtype));
    if (!isIntegerDType(spec.dtype))
        return out;
    const auto range = quantRange(spec);
    out += QStringLiteral(" · %1…%2").arg(range.min).arg(range.max);
    if (spec.isDynamic)
        return out + tr(" · range of each call");
    const bool isTrained = hasTrainedRange(facts, observer);
    if (isTrained)
        out += tr(" · from training");
    if (isPerChannel(spec.qscheme)) {
        const auto* stats = observer ? facts.stats(observer->id) : nullptr;
        if (spec.groupSize > 0)
            out += tr(" · groups of %1").arg(spec.groupSize);
        out += stats && !stats->channelMin.empty()
            ? QString(spec.groupSize > 0 ? QStringLiteral(" (%1)") : tr(" · per channel (%1)"))
                  .arg(stats->channelMin.size())
            : QString(spec.groupSize > 0 ? QString() : tr(" · per channel"));
    } else if (!isTrained) {
        out += QStringLiteral(" · %1").arg(toQString(observerKindName(spec.kind)));
    }
    return out;
}

} // namespace qs
