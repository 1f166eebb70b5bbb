// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panels/property_panel.h"

#include "ui/graph/graph_style.h"
#include "ui/panels/property_cards.h"
#include "ui/panels/qconfig_editor.h"
#include "ui/session/coalesce.h"
#include "ui/session/quantization_noise.h"
#include "ui/session/text.h"
#include "ui/session/workspace.h"
#include "ui/shell/theme.h"

#include <QFileInfo>
#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QScrollArea>
#include <QVBoxLayout>

#include <cmath>

namespace qs {

namespace {

QString argumentText(const Graph& graph, const Argument& argument)
{
    if (const auto* ref = argument.asRef()) {
        const Node* node = graph.tryGet(ref->node);
        if (!node)
            return QStringLiteral("?");
        const auto& value = graph.value(*ref);
        const QString name = node->kind == NodeKind::Parameter || node->kind == NodeKind::Constant
            ? QString::fromStdString(lastComponent(node->target))
            : QString::fromStdString(value.name);
        return QStringLiteral("%1  %2").arg(name, shapeText(value.type)).trimmed();
    }
    if (const auto* list = argument.asList()) {
        QStringList parts;
        for (const auto& item : *list)
            parts << argumentText(graph, item);
        return parts.join(QStringLiteral(", "));
    }
    if (argument.isNone())
        return QStringLiteral("None");
    if (const auto* value = argument.asInt())
        return QString::number(*value);
    if (const auto* value = argument.asDouble())
        return QString::number(*value, 'g', 8);
    if (const auto* value = argument.asBool())
        return *value ? QStringLiteral("True") : QStringLiteral("False");
    if (const auto* value = argument.asString())
        return QStringLiteral("'%1'").arg(QString::fromStdString(*value));
    if (const auto* value = argument.asDType())
        return toQString(dtypeName(*value));
    return QStringLiteral("…");
}

/// "2⁻¹²" where eps is a power of two, else its figure.
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

} // namespace

PropertyPanel::PropertyPanel(Workspace& workspace, QWidget* parent)
    : QWidget(parent)
    , m_workspace(workspace)
{
    setObjectName(QStringLiteral("panel"));
    setAttribute(Qt::WA_StyledBackground);
    auto* outer = new QVBoxLayout(this);
    outer->setContentsMargins(0, 0, 0, 0);
    outer->setSpacing(0);

    auto* header = new QWidget(this);
    auto* lines = new QVBoxLayout(header);
    lines->setContentsMargins(16, 11, 16, 7);
    lines->setSpacing(2);
    auto* first = new QHBoxLayout;
    m_title = new ElidedLabel(QString(), uiFont(14, 600), header);
    m_title->setObjectName(QStringLiteral("propertyTitle"));
    m_id = new QLabel(header);
    m_id->setFont(uiFont(11));
    m_id->setStyleSheet(QStringLiteral("color: %1;").arg(theme().muted.name()));
    first->addWidget(m_title, 1);
    first->addWidget(m_id);
    m_subtitle = new ElidedLabel(QString(), monoFont(10.5), header);
    QPalette muted = m_subtitle->palette();
    muted.setColor(QPalette::WindowText, theme().muted);
    m_subtitle->setPalette(muted);
    lines->addLayout(first);
    lines->addWidget(m_subtitle);
    outer->addWidget(header);

    m_empty = new QLabel(this);
    m_empty->setWordWrap(true);
    m_empty->setContentsMargins(16, 0, 16, 0);
    m_empty->setStyleSheet(QStringLiteral("color: %1;").arg(theme().muted.name()));
    outer->addWidget(m_empty);

    auto* scroll = new QScrollArea(this);
    scroll->setWidgetResizable(true);
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_cards = new QWidget(scroll);
    m_cards->setObjectName(QStringLiteral("panel"));
    auto* column = new QVBoxLayout(m_cards);
    column->setContentsMargins(12, 5, 12, 12);
    column->setSpacing(8);
    m_quantization = new Card(QStringLiteral("Quantization"), m_cards);
    m_editor = new QConfigEditor(workspace, m_quantization);
    m_quantization->layout()->addWidget(m_editor);
    m_why = new Card(QStringLiteral("Why"), m_cards);
    m_loss = new Card(QStringLiteral("Loss"), m_cards);
    m_arguments = new Card(QStringLiteral("Arguments"), m_cards);
    for (auto* card : {m_quantization, m_why, m_loss, m_arguments})
        column->addWidget(card);
    column->addStretch(1);
    scroll->setWidget(m_cards);
    outer->addWidget(scroll, 1);

    const auto later = coalesced(this, [this] { refresh(); });
    connect(&workspace.selection(), &Selection::changed, this, later);
    connect(&workspace, &Workspace::factsChanged, this, later);
    connect(&workspace.document(), &Document::recipeChanged, this, later);
    refresh();
}

void PropertyPanel::refresh()
{
    const auto& selection = m_workspace.selection();
    const bool any = !selection.isEmpty() && m_workspace.document().model();
    m_cards->setVisible(any);
    m_empty->setVisible(!any);
    m_empty->setText(m_workspace.document().model()
                         ? QStringLiteral("Select a node or a module to see how it is quantized, "
                                          "why, and what it loses.")
                         : QString());
    showHeader();
    if (!any)
        return;
    m_editor->refresh();
    showWhy();
    showLoss();
    showArguments();
}

void PropertyPanel::showHeader()
{
    const auto& selection = m_workspace.selection();
    const auto& model = m_workspace.document().model();
    const auto& tree = m_workspace.foldTree();
    m_id->clear();
    m_subtitle->setText({});
    m_title->setText(model ? QStringLiteral("Nothing selected") : QString());
    if (!model || !tree || selection.isEmpty())
        return;
    const auto entries = m_workspace.selectedEntries();
    if (selection.isModule()) {
        const auto* module = model->modules().tryGet(selection.modulePath().toStdString());
        m_title->setText(selection.modulePath().isEmpty() ? m_workspace.document().title()
                                                          : selection.modulePath());
        if (module)
            m_subtitle->setText(QString::fromStdString(module->moduleClass));
        if (!entries.empty())
            m_id->setText(QStringLiteral("%1 ops").arg(tree->entry(entries.front()).units));
        return;
    }
    if (entries.size() > 1) {
        m_title->setText(QStringLiteral("%1 nodes").arg(entries.size()));
        return;
    }
    const Node* node = model->tryGet(selection.current());
    if (!node)
        return;
    const QString path = QString::fromStdString(node->scope.path);
    m_title->setText(
        node->kind == NodeKind::Op && !path.isEmpty() ? path : QString::fromStdString(node->name));
    m_id->setText(QString::fromStdString(node->name));
    QString line = QString::fromStdString(node->originalTarget.empty() ? node->target
                                                                       : node->originalTarget);
    for (NodeId member : selection.nodes()) {
        if (const Node* other = model->tryGet(member); other && member != node->id) {
            line += QStringLiteral(" + %1").arg(QString::fromStdString(shortOpName(other->target)));
        }
    }
    m_subtitle->setText(line);
}

QString PropertyPanel::ruleText(const NodePlan& decided) const
{
    const Rule& rule = decided.rule;
    if (rule.kind == RuleKind::None)
        return QStringLiteral("Rule: none reaches this node");
    const QString name
        = rule.qconfig.config ? QString::fromStdString(rule.qconfig.name) : QStringLiteral("float");
    QString key = QString::fromStdString(rule.key);
    if (!key.isEmpty())
        key = QStringLiteral(" ") + key;
    return QStringLiteral("Rule: %1%2 → %3 (%4)")
        .arg(toQString(ruleKindName(rule.kind)), rule.kind == RuleKind::Node ? QString() : key,
             name,
             rule.fromBackend                       ? QStringLiteral("default of the backend")
                 : rule.kind < RuleKind::ModuleName ? QStringLiteral("recipe")
                                                    : QStringLiteral("set by you"));
}

QString PropertyPanel::constraintText(const NodePlan& decided) const
{
    const auto* group = m_workspace.facts().group(decided.node);
    if (!group || !group->dtypeConfig || !decided.qconfig)
        return {};
    const auto& want = group->dtypeConfig->input;
    const auto& have = decided.qconfig->activation;
    QStringList parts;
    if (want.scaleMinLowerBound)
        parts << QStringLiteral("eps %1 ≥ %2 %3")
                     .arg(epsText(have.eps), epsText(*want.scaleMinLowerBound),
                          have.eps >= *want.scaleMinLowerBound ? QStringLiteral("✓")
                                                               : QStringLiteral("✕"));
    if (want.quantMinLowerBound || want.quantMaxUpperBound) {
        const auto range = quantRange(have);
        const bool fits = range.min >= want.quantMinLowerBound.value_or(range.min)
            && range.max <= want.quantMaxUpperBound.value_or(range.max);
        parts << QStringLiteral("range %1…%2 %3")
                     .arg(range.min)
                     .arg(range.max)
                     .arg(fits ? QStringLiteral("✓") : QStringLiteral("✕"));
    }
    return parts.isEmpty() ? QString()
                           : QStringLiteral("Constraints: ") + parts.join(QStringLiteral("  "));
}

void PropertyPanel::showWhy()
{
    m_why->clearRows();
    const auto& selection = m_workspace.selection();
    const auto& facts = m_workspace.facts();
    if (!facts.hasPlan()) {
        m_why->addText(QStringLiteral("Planning…"), true);
        return;
    }
    if (selection.isModule() || m_workspace.selectedEntries().size() > 1) {
        std::map<Verdict, int> counts;
        for (NodeId node : selection.nodes())
            if (const auto* decided = facts.plan(node))
                ++counts[decided->verdict];
        counts.erase(Verdict::NotApplicable);
        for (const auto& [verdict, count] : counts)
            m_why->addRow(verdictText(verdict), QString::number(count));
        return;
    }
    const auto* decided = facts.plan(selection.current());
    if (!decided)
        return;
    m_why->addPill(verdictText(decided->verdict), verdictColor(decided->verdict));
    if (!decided->reason.empty())
        m_why->addText(QString::fromStdString(decided->reason));
    if (decided->verdict == Verdict::NotApplicable)
        return;
    m_why->addText(ruleText(*decided));
    for (const auto& rule : decided->overrides) {
        const QString name = rule.qconfig.config ? QString::fromStdString(rule.qconfig.name)
                                                 : QStringLiteral("float");
        m_why->addText(
            QStringLiteral("overrides %1 %2 → %3")
                .arg(toQString(ruleKindName(rule.kind)), QString::fromStdString(rule.key), name)
                .simplified(),
            true);
    }
    if (!decided->pattern.empty()) {
        QStringList names;
        for (const auto& name : decided->pattern)
            names << QString::fromStdString(lastComponent(name));
        m_why->addText(QStringLiteral("Pattern: (%1) · entry %2")
                           .arg(names.join(QStringLiteral(", ")))
                           .arg(decided->patternEntry));
    }
    if (const QString constraints = constraintText(*decided); !constraints.isEmpty())
        m_why->addText(constraints);
    showCandidates(*decided);
    showRemedy(*decided);
}

/// What was tried and where each attempt stopped.
void PropertyPanel::showCandidates(const NodePlan& decided)
{
    for (const auto& candidate : decided.candidates) {
        QStringList names;
        for (const auto& name : candidate.pattern)
            names << QString::fromStdString(lastComponent(name));
        auto* line = m_why->addText(QStringLiteral("✕ (%1) · entry %2: %3")
                                        .arg(names.join(QStringLiteral(", ")))
                                        .arg(candidate.entry)
                                        .arg(QString::fromStdString(candidate.text)),
                                    true);
        line->setObjectName(QStringLiteral("whyCandidate"));
    }
}

void PropertyPanel::showRemedy(const NodePlan& decided)
{
    if (decided.remedy.text.empty())
        return;
    auto* line = m_why->addText(QString::fromStdString(decided.remedy.text));
    line->setObjectName(QStringLiteral("whyRemedy"));
    if (!decided.remedy)
        return;
    auto* button = m_why->addButton(QStringLiteral("Apply"));
    button->setObjectName(QStringLiteral("applyRemedy"));
    button->setToolTip(QStringLiteral("Do what is suggested; can be undone"));
    button->setAccessibleName(QStringLiteral("Apply the suggestion"));
    connect(button, &QPushButton::clicked, this,
            [this, node = decided.node] { m_workspace.applyRemedy(node); });
}

void PropertyPanel::showLoss()
{
    m_loss->clearRows();
    const auto& facts = m_workspace.facts();
    const auto& selection = m_workspace.selection();
    if (!facts.hasErrors()) {
        m_loss->addText(
            QStringLiteral("Not measured yet. Compare runs the float and the int8 model "
                           "side by side."),
            true);
        return;
    }
    struct Row
    {
        const char* name;
        ErrorTerm term;
    };
    static constexpr Row rows[] = {{"isolated", ErrorTerm::Isolated},
                                   {"inherited", ErrorTerm::Inherited},
                                   {"cumulative", ErrorTerm::Cumulative},
                                   {"born here", ErrorTerm::BornHere}};
    const auto [best, worst] = facts.sqnrRange(ErrorTerm::BornHere);
    bool any = false;
    for (const auto& row : rows) {
        const auto sqnr = facts.worstSqnr(selection.nodes(), row.term);
        if (!sqnr)
            continue;
        any = true;
        const double badness = (best - *sqnr) / (best - worst);
        m_loss->addBar(QString::fromLatin1(row.name), 0.12 + 0.88 * std::clamp(badness, 0.0, 1.0),
                       cividis(badness), QStringLiteral("%1 dB").arg(*sqnr, 0, 'f', 1),
                       facts.errorsStale());
    }
    if (!any) {
        m_loss->addText(QStringLiteral("No float value to compare with here."), true);
        return;
    }
    const auto observer = facts.outputObserver(selection.current());
    const auto* stats = facts.stats(observer);
    const auto* params = facts.qparams(observer);
    if (stats && params)
        if (const auto noise = estimateNoise(stats->fine, *params); noise && noise->total() > 0)
            m_loss->addText(QStringLiteral("%1 % clipping · %2 % rounding (estimated)")
                                .arg(std::lround(100 * noise->clipping / noise->total()))
                                .arg(std::lround(100 * noise->rounding / noise->total())));
    if (facts.errorsStale())
        m_loss->addText(QStringLiteral("Measured with an older recipe: compare again."), true);
}

void PropertyPanel::showArguments()
{
    m_arguments->clearRows();
    const auto& selection = m_workspace.selection();
    const auto& model = m_workspace.document().model();
    const Node* node = model->tryGet(selection.current());
    m_arguments->setVisible(node != nullptr);
    if (!node)
        return;
    for (const auto& argument : node->args)
        m_arguments->addRow(QString::fromStdString(argument.name),
                            argumentText(*model, argument.value));
    for (const auto& output : node->outputs)
        m_arguments->addRow(QStringLiteral("output"),
                            QStringLiteral("%1").arg(QString::fromStdString(output.type.text())));
    if (!node->opaqueReason.empty())
        m_arguments->addRow(QStringLiteral("opaque"), QString::fromStdString(node->opaqueReason));
    if (!node->source.file.empty())
        m_arguments->addRow(
            QStringLiteral("source"),
            QStringLiteral("%1:%2  %3")
                .arg(QFileInfo(QString::fromStdString(node->source.file)).fileName())
                .arg(node->source.line)
                .arg(QString::fromStdString(node->source.code)));
}

} // namespace qs
