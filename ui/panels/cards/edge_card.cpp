// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panels/cards/edge_card.h"

#include "engine/configure/qconfigs/derived_qconfig.h"
#include "ui/graph/node_words.h"
#include "ui/graph/style/graph_style.h"
#include "ui/panels/recipe/qconfig_box.h"
#include "ui/session/decisions/choices_for.h"
#include "ui/session/decisions/edge_decisions.h"
#include "ui/session/decisions/trained_ranges.h"
#include "ui/session/jobs/plan_wait.h"
#include "ui/session/text.h"
#include "ui/session/workspace.h"
#include "ui/style/theme.h"
#include "ui/style/widgets.h"

#include <QComboBox>

#include <algorithm>

namespace qs {

namespace {

constexpr int kNamedPartners = 4;

constexpr ObserverKind kObserversOfEdges[]
    = {ObserverKind::Histogram, ObserverKind::MinMax, ObserverKind::MovingAverageMinMax};

QString qconfigWord(const NamedQConfig& qconfig)
{
    return qconfig.config ? toQString(qconfig.name) : QStringLiteral("float");
}

/// Returns "edge rule → act7 (set by you)".
QString candidateText(const Facts& facts, const Edge& edge, const EdgeRuleCandidate& candidate)
{
    const Rule& rule = candidate.rule;
    QString text = toQString(ruleKindName(rule.kind));
    if (rule.kind == RuleKind::Edge)
        text = QObject::tr("edge %1 ► %2, input %3")
                   .arg(facts.title(edge.value.node), facts.title(edge.reader.node))
                   .arg(rule.index);
    else if (!rule.key.empty())
        text += QStringLiteral(" %1").arg(toQString(rule.key));
    text += QStringLiteral(" → %1").arg(qconfigWord(rule.qconfig));
    if (candidate.of == EdgeRuleCandidate::Of::Edge)
        return text;
    const NodeId of
        = candidate.of == EdgeRuleCandidate::Of::Producer ? edge.value.node : edge.reader.node;
    return QObject::tr("%1 (of %2)").arg(text, facts.title(of));
}

/// Returns the named qconfigs with their fit to the edge's reader.
std::vector<QConfigChoice> choicesOfReader(Workspace& workspace, const std::string& reader)
{
    auto choices = choicesFor(workspace, {RuleKind::Node, {reader}});
    std::erase_if(choices, [](const QConfigChoice& choice) { return choice.isNew; });
    return choices;
}

} // namespace

QString specWords(const Facts& facts, const PlannedObserver& observer)
{
    const ObserverSpec& spec = observer.spec;
    const QuantRange range = quantRange(spec);
    QString text = toQString(dtypeName(spec.dtype));
    if (isIntegerDType(spec.dtype))
        text += QStringLiteral(" · %1…%2").arg(range.min).arg(range.max);
    if (hasTrainedRange(facts, &observer))
        return text + QObject::tr(" · from training");
    text += QStringLiteral(" · %1").arg(toQString(observerKindName(spec.kind)));
    if (spec.kind == ObserverKind::Histogram && spec.range != RangeMethod::Search)
        text += QStringLiteral(", %1").arg(toQString(rangeMethodName(spec.range)));
    return text;
}

EdgeCard::EdgeCard(Workspace& workspace, QWidget* parent)
    : Card(tr("Edge"), parent)
    , m_workspace(workspace)
{
}

void EdgeCard::refresh()
{
    const auto& edge = m_workspace.selection().edge();
    if (edge != m_shown)
        m_allReaders = false;
    m_shown = edge;
    const Filling filling(*this);
    m_qconfig = nullptr;
    const auto& document = m_workspace.document();
    if (!edge || !document.model() || !document.model()->tryGet(edge->reader.node))
        return;
    if (!document.plan()) {
        addText(planWaitText(m_workspace.pipeline()), true);
        return;
    }
    const EdgeFacts facts
        = edgeFacts(*document.model(), *document.plan(), document.recipe(), *edge);
    showValue(*edge, facts);
    showPartners(*edge);
    showChoices(*edge, facts);
    showRules(*edge, facts);
}

void EdgeCard::showValue(const Edge& edge, const EdgeFacts& facts)
{
    const Graph& graph = *m_workspace.document().model();
    const Value& value = graph.value(edge.value);
    addRow(tr("Value"),
           QStringLiteral("%1  %2").arg(toQString(value.name), shapeText(value.type)).trimmed());
    const PlannedObserver* observer = m_workspace.facts().observer(facts.observer);
    addRow(tr("Read as"),
           observer ? specWords(m_workspace.facts(), *observer) : QStringLiteral("float"));
    if (hasTrainedRange(m_workspace.facts(), observer))
        addRow(tr("Range"), tr("from the file's fake quantizer"));
    if (const QParams* params = m_workspace.facts().qparams(facts.observer);
        params && params->scale.size() == 1)
        addRow(tr("Scale"),
               tr("%1   zero point %2")
                   .arg(scaleText(double(params->scale.front())))
                   .arg(params->zeroPoint.front()));
    if (const PlannedObserver* before = m_workspace.facts().observer(facts.before))
        addRow(tr("Before"), specWords(m_workspace.facts(), *before));
    addText(m_workspace.facts().titled(toQString(facts.why)), true)
        ->setObjectName(QStringLiteral("edgeWhy"));
}

void EdgeCard::showRules(const Edge& edge, const EdgeFacts& facts)
{
    for (int i = 0; i < int(facts.candidates.size()); ++i) {
        const bool won = i == facts.won;
        auto* line
            = addText(QStringLiteral("%1 %2").arg(won ? QStringLiteral("✓") : QStringLiteral("·"),
                                                  candidateText(m_workspace.facts(), edge,
                                                                facts.candidates[std::size_t(i)])),
                      !won);
        line->setObjectName(won ? QStringLiteral("edgeRuleWon") : QStringLiteral("edgeRule"));
    }
}

void EdgeCard::showPartners(const Edge& edge)
{
    QStringList names;
    for (const ObservedEdge& partner :
         sharedAlong(*m_workspace.document().model(), *m_workspace.document().plan(), edge))
        if (const QString name = m_workspace.facts().title(partner.value.node);
            !names.contains(name))
            names << name;
    if (names.isEmpty())
        return;
    const int more = int(names.size()) - kNamedPartners;
    QString text = names.mid(0, kNamedPartners).join(QStringLiteral(", "));
    if (more > 0)
        text = tr("%1 and %2 more").arg(text).arg(more);
    addText(tr("One observer for %1: they change together.").arg(text))
        ->setObjectName(QStringLiteral("edgePartners"));
}

QComboBox* EdgeCard::addBox(const QString& label, const char* name, const QString& tip)
{
    auto* box = new QComboBox(this);
    box->setObjectName(QString::fromLatin1(name));
    box->setAccessibleName(tip);
    box->setToolTip(tip);
    box->setFont(uiFont(11.5));
    box->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    box->setMinimumContentsLength(8);
    addRow(label, box);
    return box;
}

void EdgeCard::showChoices(const Edge& edge, const EdgeFacts& facts)
{
    if (!facts.index) {
        addText(tr("No rule applies to this edge: it is not an activation of an operator."), true);
        return;
    }
    const auto readers
        = edgesOf(*m_workspace.document().model(), *m_workspace.document().plan(), edge.value);
    m_qconfig = new QConfigBox(this);
    setNames(*m_qconfig, "edgeQConfigBox", tr("The qconfig of the edge; can be undone"),
             tr("The qconfig of the edge; can be undone"));
    addRow(tr("Qconfig"), m_qconfig);
    const std::string reader = m_workspace.document().model()->get(edge.reader.node).name;
    m_qconfig->setChoices(
        tr("by rule"), m_workspace.qconfigNames(),
        [this, reader] { return choicesOfReader(m_workspace, reader); }, false);
    const bool own
        = !facts.candidates.empty() && facts.candidates.front().of == EdgeRuleCandidate::Of::Edge;
    const NamedQConfig decided = own ? facts.candidates.front().rule.qconfig : NamedQConfig();
    m_qconfig->showDecided(own ? std::optional(decided.config ? decided.name : std::string())
                               : std::nullopt);
    connect(m_qconfig, &QComboBox::activated, this, &EdgeCard::choose);

    const auto from = qconfigOnEdge(m_workspace, edge);
    const ObserverSpec spec = from ? from->config->activation : ObserverSpec {};
    if (from && isIntegerDType(spec.dtype) && !spec.isDynamic) {
        auto* observers
            = addBox(tr("Observer"), "edgeObserverBox", tr("How the value is observed"));
        for (const ObserverKind kind : kObserversOfEdges)
            observers->addItem(toQString(observerKindName(kind)));
        const auto at
            = std::find(std::begin(kObserversOfEdges), std::end(kObserversOfEdges), spec.kind);
        observers->setCurrentIndex(
            at == std::end(kObserversOfEdges) ? -1 : int(at - std::begin(kObserversOfEdges)));
        observers->setPlaceholderText(toQString(observerKindName(spec.kind)));
        connect(observers, &QComboBox::activated, this, [this, spec](int index) {
            const ObserverKind kind = kObserversOfEdges[index];
            chooseObserver(observedBy(spec, kind), toQString(observerKindName(kind)));
        });
        if (spec.kind == ObserverKind::Histogram) {
            auto* ranges
                = addBox(tr("Range"), "edgeRangeBox", tr("How the histogram becomes a range"));
            for (const auto& name : rangeMethodNames())
                ranges->addItem(toQString(name));
            ranges->setCurrentText(toQString(rangeMethodName(spec.range)));
            connect(ranges, &QComboBox::activated, this, [this, spec, ranges](int index) {
                const QString name = ranges->itemText(index);
                chooseObserver(
                    observedBy(spec, spec.kind, *rangeMethodFromName(name.toStdString())), name);
            });
        }
    }
    if (readers.size() < 2)
        return;
    auto* scope = addBox(tr("Scope"), "edgeScopeBox", tr("What a choice above applies to"));
    scope->addItem(tr("this edge"));
    scope->addItem(tr("all %1 readers of %2")
                       .arg(readers.size())
                       .arg(m_workspace.facts().title(edge.value.node)));
    scope->setCurrentIndex(m_allReaders);
    connect(scope, &QComboBox::activated, this, [this](int index) { m_allReaders = index == 1; });
}

void EdgeCard::choose(int index)
{
    if (!m_shown || !m_qconfig)
        return;
    if (m_qconfig->kindAt(index) != QConfigBox::Kind::Heading)
        assignEdge(m_workspace, *m_shown, m_allReaders, m_qconfig->nameAt(index));
}

void EdgeCard::chooseObserver(const ObserverSpec& spec, const QString& word)
{
    if (m_shown)
        assignEdgeSpec(m_workspace, *m_shown, m_allReaders, spec, word);
}

} // namespace qs
