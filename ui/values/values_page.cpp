// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/values/values_page.h"

#include "engine/graph/output_names.h"
#include "ui/plots/plot_style.h"
#include "ui/session/coalesce.h"
#include "ui/session/text.h"
#include "ui/session/workspace.h"
#include "ui/style/property_cards.h"
#include "ui/style/theme.h"
#include "ui/style/widgets.h"
#include "ui/values/inspection_lists.h"
#include "ui/values/sample_view.h"
#include "ui/values/value_inspections.h"

#include <QComboBox>
#include <QSignalBlocker>
#include <QSpinBox>
#include <QSplitter>

#include <algorithm>

namespace qs {

namespace {

QString shapeText(const std::vector<std::int64_t>& shape)
{
    QStringList parts;
    for (const std::int64_t size : shape)
        parts << QString::number(size);
    return QStringLiteral("[%1]").arg(parts.join(QStringLiteral(", ")));
}

/// Returns the indices of a plane in the leading dimensions: "channel 3", "[0, 2]".
QString planeText(const SampleValues& values, std::int64_t plane)
{
    if (values.shape.size() == 3)
        return values.channelAxis == 0 ? QObject::tr("of %1 channels").arg(values.shape[0])
                                       : QObject::tr("of %1").arg(values.shape[0]);
    std::vector<std::int64_t> place;
    for (std::size_t i = values.shape.size() - 2; i-- > 0;) {
        place.insert(place.begin(), plane % values.shape[i]);
        plane /= values.shape[i];
    }
    return QObject::tr("of %1: %2").arg(values.allPlanes()).arg(shapeText(place));
}

std::optional<int> wantedOutput(const QComboBox& what)
{
    return what.currentIndex() > 0 ? std::optional(what.currentIndex() - 1) : std::nullopt;
}

} // namespace

ValuesPage::ValuesPage(Workspace& workspace, QWidget* parent)
    : QWidget(parent)
    , m_workspace(workspace)
    , m_inspections(new ValueInspections(workspace, QStringLiteral("values"),
                                         ValueInspections::Wanted::InspectionAndSample, this))
{
    setObjectName(QStringLiteral("valuesPage"));
    fillPanel(*this);
    auto* bar = new QWidget(this);
    buildBar(*bar);
    auto* splitter = new QSplitter(Qt::Horizontal, this);
    splitter->setObjectName(QStringLiteral("valuesHalves"));
    splitter->setHandleWidth(px(6));
    splitter->setChildrenCollapsible(false);
    m_view = new SampleView(splitter);
    splitter->addWidget(m_view);
    m_lists = new InspectionLists(splitter);
    splitter->addWidget(m_lists);
    connect(m_lists, &InspectionLists::sampleWanted, m_sample, &QSpinBox::setValue);
    connect(m_lists, &InspectionLists::channelWanted, this, &ValuesPage::showChannel);
    splitter->setStretchFactor(0, 3);
    splitter->setStretchFactor(1, 2);
    splitter->setSizes({px(560), px(400)});
    addItems(*makeVBox(this, {12, 6, 12, 6}, 4), {bar, {splitter, 1}});
    setFocusProxy(m_lists);
    connect(m_view, &SampleView::pointed, this, [this](const QString& text) {
        m_pointed = text;
        refreshBar();
    });
    connect(m_inspections, &ValueInspections::changed, this, &ValuesPage::refresh);
    connect(&workspace.selection(), &Selection::changed, this, coalesced(this, [this] { aim(); }));
    const auto again = coalesced(this, [this] {
        refreshBar();
        aim();
    });
    connect(&workspace, &Workspace::treeChanged, this, again);
    connect(&workspace.document(), &Document::graphEdited, this, again);
    again();
}

void ValuesPage::buildBar(QWidget& bar)
{
    m_title = new ElidedLabel(QString(), uiFont(11.5, 600), &bar);
    m_title->setObjectName(QStringLiteral("valuesTitle"));
    m_note = new ElidedLabel(QString(), uiFont(11), &bar);
    m_note->setObjectName(QStringLiteral("valuesNote"));
    m_what = new QComboBox(&bar);
    setNames(*m_what, "valuesOf", tr("Whose values"),
             tr("Follow the selected node, or stay at an output"));
    m_what->addItem(tr("selected node"));
    m_sample = new QSpinBox(&bar);
    setNames(*m_sample, "valuesSample", tr("Sample of the data"), tr("Sample of the data, from 0"));
    m_sample->setPrefix(tr("sample "));
    m_sample->setKeyboardTracking(false);
    m_sample->setMaximum(0);
    m_result = new QComboBox(&bar);
    setNames(*m_result, "valuesResult", tr("Result of the node"));
    m_plane = new QSpinBox(&bar);
    setNames(*m_plane, "valuesPlane", tr("Slice of the value"),
             tr("Slice over the last two dimensions, counted through all before them"));
    m_plane->setPrefix(tr("slice "));
    m_plane->setMaximum(0);
    m_planeLabel = makeMutedLabel(QString(), 11, &bar);
    m_planeLabel->setObjectName(QStringLiteral("valuesPlaneText"));
    m_mode = new QComboBox(&bar);
    setNames(*m_mode, "valuesMode", tr("Slice or image"));
    m_mode->addItems({tr("slice"), tr("image")});
    auto* row = makeHBox(&bar, {}, px(6));
    row->addWidget(m_title, 3);
    for (QWidget* part : {static_cast<QWidget*>(m_what), static_cast<QWidget*>(m_sample),
                          static_cast<QWidget*>(m_result), static_cast<QWidget*>(m_plane),
                          static_cast<QWidget*>(m_planeLabel), static_cast<QWidget*>(m_mode)}) {
        if (part != m_planeLabel)
            part->setFont(uiFont(11));
        row->addWidget(part);
    }
    row->addWidget(m_note, 3);
    connect(m_what, &QComboBox::currentIndexChanged, this, &ValuesPage::aim);
    connect(m_sample, &QSpinBox::valueChanged, m_inspections,
            [this](int value) { m_inspections->setSample(value); });
    const auto part = [this] {
        m_inspections->setPart(std::size_t(std::max(0, m_result->currentIndex())),
                               m_plane->value());
        refresh();
    };
    connect(m_result, &QComboBox::currentIndexChanged, this, part);
    connect(m_plane, &QSpinBox::valueChanged, this, part);
    connect(m_mode, &QComboBox::currentIndexChanged, this, &ValuesPage::refresh);
}

void ValuesPage::showEvent(QShowEvent* event)
{
    QWidget::showEvent(event);
    m_inspections->setWatched(true);
}

void ValuesPage::hideEvent(QHideEvent* event)
{
    QWidget::hideEvent(event);
    m_inspections->setWatched(false);
}

void ValuesPage::aim()
{
    std::optional<InspectionTarget> target;
    const NodeId node = m_workspace.selection().current();
    const auto& model = m_workspace.document().model();
    if (const auto output = wantedOutput(*m_what))
        target = InspectionTarget {{}, std::size_t(*output)};
    else if (model && model->tryGet(node))
        target = InspectionTarget {m_workspace.facts().last(node), {}};
    if (target != m_inspections->target()) {
        const QSignalBlocker plane(m_plane), result(m_result);
        m_plane->setValue(0);
        m_result->clear();
        m_result->addItem(tr("result 0"));
    }
    m_inspections->setTarget(target);
}

void ValuesPage::refresh()
{
    refreshBar();
    m_lists->show(m_inspections->inspection(), m_inspections->isStale());
    const auto& values = m_inspections->values();
    const bool isImage = values && SampleView::isImage(*values);
    m_mode->setVisible(isImage);
    const bool asImage = isImage && m_mode->currentIndex() == 1;
    m_view->show(values, m_plane->value(), asImage, m_inspections->isStale());
    m_plane->setEnabled(!asImage);
}

void ValuesPage::refreshBar()
{
    const auto& model = m_workspace.document().model();
    QStringList outputs {tr("selected node")};
    if (model)
        for (const std::string& name : outputNames(*model))
            outputs << tr("output %1").arg(toQString(name));
    if (m_what->count() != outputs.size()
        || m_what->itemText(outputs.size() - 1) != outputs.back()) {
        const QSignalBlocker quiet(m_what);
        m_what->clear();
        m_what->addItems(outputs);
    }
    const auto& inspection = m_inspections->inspection();
    const auto& values = m_inspections->values();
    const QSignalBlocker sample(m_sample), plane(m_plane), result(m_result);
    if (inspection) {
        m_sample->setMaximum(int(std::max<std::int64_t>(1, inspection->sampleCount) - 1));
        while (m_result->count() < int(inspection->results.size()))
            m_result->addItem(tr("result %1").arg(m_result->count()));
    } else {
        m_sample->setMaximum(std::max(m_sample->maximum(), m_sample->value()));
    }
    m_result->setVisible(m_result->count() > 1);
    m_plane->setMaximum(values ? int(std::max<std::int64_t>(1, values->allPlanes()) - 1) : 0);
    const bool isSliced = values && values->allPlanes() > 1;
    m_plane->setVisible(isSliced);
    m_planeLabel->setVisible(isSliced);
    if (isSliced)
        m_planeLabel->setText(planeText(*values, m_plane->value()));
    QString title;
    if (inspection)
        title = toQString(inspection->name)
            + (inspection->error && inspection->error->sqnrDb
                   ? QStringLiteral(" · ") + shownSqnr(*inspection->error->sqnrDb, " dB", 2)
                   : QString())
            + (inspection->kl ? tr(" · KL %1").arg(*inspection->kl, 0, 'g', 3) : QString());
    if (values)
        title += (title.isEmpty() ? QString() : QStringLiteral(" · ")) + shapeText(values->shape)
            + (values->ofBatch ? tr(" (whole batch)") : QString());
    if (inspection && m_inspections->isAgainstOriginal())
        title += tr(" · against the original model");
    m_title->setText(title);
    const QString note = m_inspections->note();
    m_note->setColor(!note.isEmpty() && m_inspections->isStale() ? theme().warning : theme().muted);
    m_note->setText(note.isEmpty() ? m_pointed : note);
}

void ValuesPage::showSample(int sample)
{
    m_sample->setMaximum(std::max(m_sample->maximum(), sample));
    m_sample->setValue(sample);
}

void ValuesPage::showChannel(const ChannelError& channel)
{
    const auto& values = m_inspections->values();
    // A channel is one plane only if the channels precede rows and columns.
    if (!values || values->shape.size() < 3 || values->channelAxis != int(values->shape.size()) - 3)
        return;
    m_result->setCurrentIndex(int(channel.result));
    m_plane->setValue(int(channel.channel));
}

} // namespace qs
