// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panels/property_panel.h"

#include "engine/base/text.h"
#include "engine/graph/bodies.h"
#include "engine/graph/operators/class_parts.h"
#include "ui/graph/node_words.h"
#include "ui/graph/style/graph_style.h"
#include "ui/panels/cards/alternatives_card.h"
#include "ui/panels/cards/cause_card.h"
#include "ui/panels/cards/edge_card.h"
#include "ui/panels/cards/edge_list_card.h"
#include "ui/panels/cards/interior_card.h"
#include "ui/panels/cards/module_card.h"
#include "ui/panels/cards/values_card.h"
#include "ui/panels/cards/why_card.h"
#include "ui/panels/recipe/qconfig_editor.h"
#include "ui/session/coalesce.h"
#include "ui/session/decisions/edge_decisions.h"
#include "ui/session/text.h"
#include "ui/session/workspace.h"
#include "ui/style/layout_barrier.h"
#include "ui/style/property_cards.h"
#include "ui/style/theme.h"
#include "ui/style/widgets.h"

#include <QCoreApplication>
#include <QEvent>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QScrollArea>

namespace qs {

namespace {

QString argumentText(const Graph& graph, const Argument& argument)
{
    if (const auto* ref = argument.asRef()) {
        const Node* node = graph.tryGet(ref->node);
        if (!node)
            return QStringLiteral("?");
        const auto& value = graph.value(*ref);
        const QString name = node->isStored() ? QString::fromStdString(lastPart(node->target))
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

/// Returns "3 operators: mul, add, relu".
QString bodyText(const Graph& body)
{
    const auto count = operatorCount(body);
    QStringList words;
    for (const NodePtr& node : body.nodes())
        if (node->kind == NodeKind::Op && words.size() < 4)
            words << QString::fromStdString(shortOpName(node->target));
    QString text = toQString(counted(count, "operator"));
    if (!words.isEmpty())
        text += QStringLiteral(": ") + words.join(QStringLiteral(", "));
    return std::size_t(words.size()) < count ? text + QStringLiteral(", …") : text;
}

/// True if the argument only names a body, which has a separate row.
bool namesABody(const Argument& argument)
{
    const auto* text = argument.asString();
    return text && text->starts_with("subgraph:");
}

} // namespace

PropertyPanel::PropertyPanel(Workspace& workspace, QWidget* parent)
    : QWidget(parent)
    , m_workspace(workspace)
{
    setObjectName(QStringLiteral("panel"));
    setAttribute(Qt::WA_StyledBackground);
    auto* outer = makeVBox(this, {}, 0);

    auto* header = new QWidget(this);
    auto* lines = makeVBox(header, {16, 11, 16, 7}, 2);
    auto* first = new QHBoxLayout;
    m_title = new ElidedLabel(QString(), uiFont(14, 600), header);
    m_title->setObjectName(QStringLiteral("propertyTitle"));
    m_id = makeMutedLabel(QString(), 11, header);
    addItems(*first, {{m_title, 1}, m_id});
    m_subtitle = new ElidedLabel(QString(), monoFont(10.5), header);
    QPalette muted = m_subtitle->palette();
    muted.setColor(QPalette::WindowText, theme().muted);
    m_subtitle->setPalette(muted);
    addItems(*lines, {first, m_subtitle});
    outer->addWidget(new LayoutBarrier(header, this));

    m_empty = makeParagraph(QString(), this);
    m_empty->setContentsMargins(16, 0, 16, 0);
    outer->addWidget(m_empty);

    m_scroll = new QScrollArea(this);
    setNames(*m_scroll, "propertyScroll", tr("Properties"));
    m_scroll->setWidgetResizable(true);
    m_scroll->setFrameShape(QFrame::NoFrame);
    m_scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_cards = new QWidget(m_scroll);
    m_cards->setObjectName(QStringLiteral("panel"));
    m_cards->setAttribute(Qt::WA_StaticContents); // a growing card does not repaint the others
    auto* column = makeVBox(m_cards, {12, 5, 12, 12}, 8);
    m_quantization = new Card(tr("Quantization"), m_cards);
    m_editor = new QConfigEditor(workspace, m_quantization);
    m_quantization->layout()->addWidget(m_editor);
    m_why = new WhyCard(workspace, m_cards);
    connect(m_why, &WhyCard::suggestionTaken, this, &PropertyPanel::suggestionTaken);
    m_loss = new Card(tr("Loss"), m_cards);
    m_cause = new CauseCard(workspace, m_cards);
    m_edge = new EdgeCard(workspace, m_cards);
    m_edges = new EdgeListCard(workspace, m_cards);
    m_alternatives = new AlternativesCard(workspace, m_cards);
    m_interior = new InteriorCard(workspace, m_cards);
    m_contents = new ModuleCard(workspace, m_cards);
    m_arguments = new Card(tr("Arguments"), m_cards);
    m_values = new ValuesCard(workspace, m_cards);
    for (Card* card : {static_cast<Card*>(m_edge), m_quantization, static_cast<Card*>(m_why),
                       static_cast<Card*>(m_cause), m_loss, static_cast<Card*>(m_alternatives),
                       static_cast<Card*>(m_edges), static_cast<Card*>(m_interior),
                       static_cast<Card*>(m_contents), m_arguments, static_cast<Card*>(m_values)})
        column->addWidget(card);
    column->addStretch(1);
    m_scroll->setWidget(m_cards);
    outer->addWidget(m_scroll, 1);

    const auto later = coalesced(this, [this] { refresh(); });
    // At once, so that cards and graph are painted together.
    connect(&workspace.selection(), &Selection::changed, this,
            later.unlessDue([this] { refresh(); }));
    connect(&workspace, &Workspace::factsChanged, this, later);
    connect(&workspace.document(), &Document::recipeChanged, this, later);
    connect(&workspace.pipeline(), &Pipeline::failed, this, later);
    connect(&workspace.alternatives(), &AlternativesAsked::arrived, this, [this] {
        if (m_alternatives->isWaiting())
            arrange([this] { m_alternatives->refresh(); });
    });
    connect(&workspace.previews(), &ValuePreviews::arrived, this, [this] {
        if (m_values->isWaiting())
            arrange([this] { m_values->refresh(); });
    });
    refresh();
}

void PropertyPanel::refresh()
{
    m_cards->setUpdatesEnabled(false); // one update instead of one per row
    arrange([this] { fill(); });
    m_cards->setUpdatesEnabled(true);
}

void PropertyPanel::arrange(const std::function<void()>& fill)
{
    // Otherwise each card that is shown would lay out all cards with their old heights.
    m_cards->layout()->setEnabled(false);
    fill();
    const auto cards = m_cards->findChildren<Card*>(QString(), Qt::FindDirectChildrenOnly);
    for (Card* card : cards)
        card->updateGeometry();
    QEvent filled(QEvent::LayoutRequest); // the scroll area decides the height
    QCoreApplication::sendEvent(m_scroll, &filled);
    m_cards->layout()->setEnabled(true);
    m_cards->layout()->activate();
    for (Card* card : cards)
        card->layOut();
}

void PropertyPanel::fill()
{
    const auto& selection = m_workspace.selection();
    const bool any = !selection.isEmpty() && m_workspace.document().model();
    const bool whole = !any && m_workspace.facts().hasErrors();
    const bool isEdge = any && selection.edge();
    m_cards->setVisible(any || whole);
    m_empty->setVisible(!any);
    m_empty->setText(
        m_workspace.document().model()
            ? tr("Select a node or a module to see how it is quantized, why, and its error.")
            : QString());
    m_edge->setVisible(isEdge);
    m_quantization->setVisible(any && !isEdge);
    m_why->setVisible(any && !isEdge);
    m_loss->setVisible((any && !isEdge) || whole);
    showHeader();
    if (whole)
        showLoss();
    if (!any || isEdge)
        for (QWidget* card : std::initializer_list<QWidget*> {m_edges, m_interior, m_contents,
                                                              m_arguments, m_values, m_cause})
            card->hide();
    if (!any) {
        m_alternatives->hide();
        return;
    }
    if (isEdge) {
        m_edge->refresh();
        m_alternatives->refresh();
        return;
    }
    m_editor->refresh();
    m_why->refresh();
    showLoss();
    m_cause->refresh();
    m_alternatives->refresh();
    m_edges->refresh();
    m_interior->refresh();
    m_contents->refresh();
    showArguments();
    m_values->refresh();
}

void PropertyPanel::showHeader()
{
    const auto& selection = m_workspace.selection();
    const auto& model = m_workspace.document().model();
    const auto& tree = m_workspace.foldTree();
    m_id->clear();
    m_subtitle->setText({});
    m_title->setText(model ? tr("Nothing selected") : QString());
    if (!model || !tree || selection.isEmpty())
        return;
    if (selection.edge()) {
        m_title->setText(edgeText(m_workspace.facts(), *selection.edge()));
        m_id->setText(tr("edge"));
        m_subtitle->setText(toQString(model->value(selection.edge()->value).type.text()));
        return;
    }
    const auto entries = m_workspace.selectedEntries();
    if (selection.isModule()) {
        const auto* module = model->modules().tryGet(selection.modulePath().toStdString());
        m_title->setText(selection.modulePath().isEmpty() ? m_workspace.document().title()
                                                          : selection.modulePath());
        if (module)
            m_subtitle->setText(QString::fromStdString(module->moduleClass));
        if (!entries.empty() && !tree->entry(entries.front()).wrap.empty())
            m_subtitle->setText(tr(
                "one node: its own operators stay float, the modules inside follow their rules"));
        if (!entries.empty())
            m_id->setText(nodeCount(tree->entry(entries.front())));
        return;
    }
    if (entries.size() > 1) {
        m_title->setText(tr("%1 nodes").arg(entries.size()));
        return;
    }
    const Node* node = model->tryGet(selection.current());
    if (!node)
        return;
    m_title->setText(m_workspace.facts().title(node->id));
    m_id->setText(QString::fromStdString(node->name));
    QString line = QString::fromStdString(node->originalTarget.empty() ? wholeTarget(node->target)
                                                                       : node->originalTarget);
    for (NodeId member : selection.nodes()) {
        if (const Node* other = model->tryGet(member); other && member != node->id) {
            line += QStringLiteral(" + %1").arg(QString::fromStdString(shortOpName(other->target)));
        }
    }
    m_subtitle->setText(line);
}

void PropertyPanel::showArguments()
{
    const Card::Filling filling(*m_arguments);
    const auto& selection = m_workspace.selection();
    const auto& model = m_workspace.document().model();
    const Node* node = model->tryGet(selection.current());
    m_arguments->setVisible(node != nullptr);
    if (!node)
        return;
    for (const auto& argument : node->args)
        if (node->subgraphs.empty() || !namesABody(argument.value))
            m_arguments->addRow(QString::fromStdString(argument.name),
                                argumentText(*model, argument.value));
    const NodePtr owner = m_workspace.facts().bodyOwner(node->id);
    for (std::size_t i = 0; owner && i < owner->subgraphs.size(); ++i)
        m_arguments->addRow(QString::fromStdString(bodyTitle(*owner, i)),
                            bodyText(*owner->subgraphs[i]));
    if (owner)
        m_arguments->addText(
            tr("Double-click the node, or press Enter in the graph, to look inside."), true);
    for (const auto& output : node->outputs)
        m_arguments->addRow(tr("output"),
                            QStringLiteral("%1").arg(QString::fromStdString(output.type.text())));
    if (const auto seconds = m_workspace.facts().seconds(*model, selection.nodes()))
        m_arguments->addRow(
            tr("time"),
            tr("%1 a batch, float").arg(measureText(ColourBy::Time, std::log2(*seconds * 1e9))));
    if (!node->opaqueReason.empty())
        m_arguments->addRow(tr("opaque"), QString::fromStdString(node->opaqueReason));
    if (!node->source.file.empty())
        m_arguments->addRow(
            tr("source"),
            QStringLiteral("%1:%2  %3")
                .arg(QFileInfo(QString::fromStdString(node->source.file)).fileName())
                .arg(node->source.line)
                .arg(QString::fromStdString(node->source.code)));
}

} // namespace qs
