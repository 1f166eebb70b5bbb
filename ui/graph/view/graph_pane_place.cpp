// SPDX-License-Identifier: GPL-3.0-or-later
// Where the parts of the pane stand, and what it hands over to another pane.
#include "ui/graph/node_by_name.h"
#include "ui/graph/style/legend.h"
#include "ui/graph/view/body_pane.h"
#include "ui/graph/view/graph_header.h"
#include "ui/graph/view/graph_pane.h"
#include "ui/graph/view/minimap.h"
#include "ui/session/workspace.h"
#include "ui/style/theme.h"

#include <QPainter>
#include <QSplitter>

#include <algorithm>

namespace qs {

namespace {

constexpr int kFooterMargin = 8, kMapWidth = 76;

} // namespace

GraphPane::State GraphPane::state() const
{
    const auto& view = m_main->view();
    return {
        m_expanded, m_form,         m_otherForm, m_split,
        m_colourBy, m_colourChosen, view.zoom(), view.mapToScene(view.viewport()->rect().center()),
        m_trace,    m_range};
}

void GraphPane::setState(const State& state)
{
    if (!m_workspace.foldTree())
        return;
    m_freshModel = false;
    m_modelNumber = m_workspace.document().modelNumber();
    m_expanded = state.expanded;
    m_form = state.form;
    m_otherForm = state.otherForm;
    m_split = state.split;
    m_colourChosen = state.colourChosen;
    m_arriving = state;
    showForms(true);
    setColourBy(state.colourBy);
    m_range = state.range;
    setTrace(state.trace);
}

void GraphPane::revealNamed(const QString& name)
{
    m_wantedName = name;
    revealWanted();
}

void GraphPane::revealWanted()
{
    if (m_wantedName.isEmpty() || !m_workspace.foldTree())
        return;
    std::vector<CodeForm> forms {m_form};
    forms.insert(forms.end(), kCodeForms.begin(), kCodeForms.end());
    if (std::any_of(forms.begin(), forms.end(), [this](CodeForm form) { return revealIn(form); })) {
        m_wantedName.clear();
    } else if (m_forms->isPending()) {
        m_forms->want();
    } else {
        Q_EMIT notFound(std::exchange(m_wantedName, {}));
    }
}

bool GraphPane::revealIn(CodeForm form)
{
    const GraphForm shown = m_forms->form(form);
    const NodeId node = shown.graph && shown.tree
        ? drawnNodeNamed(*shown.graph, *shown.tree, m_wantedName.toStdString())
        : NodeId();
    if (!node)
        return false;
    m_body->close();
    if (form != m_form)
        showForm(form);
    const int entry = shown.tree->unitOf(node);
    for (int up = shown.tree->entry(entry).parent; up > FoldTree::kRoot;
         up = shown.tree->entry(up).parent)
        m_expanded.insert(shown.tree->entry(up).path);
    m_main->reveal(entry);
    relayout(true);
    return true;
}

QSize GraphPane::minimumSizeHint() const
{
    return {m_header->minimumSizeHint().width(), px(120)};
}

void GraphPane::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    place();
}

void GraphPane::paintEvent(QPaintEvent*)
{
    QPainter p(this);
    p.fillRect(rect(), theme().panel);
    if (!m_legend->isHidden())
        p.fillRect(0, m_views->geometry().bottom() + 1, width(), 1, theme().border);
}

void GraphPane::showMinimap()
{
    const auto& drawing = view().graphScene().drawing();
    const int column = px(kMapWidth);
    const bool isShown = !m_minimap->isHidden();
    bool wanted = false;
    if (drawing && m_header->isMapWanted()) {
        // Asked of the width without the column, so that showing it does not change the answer.
        const double taken = isShown ? column / view().zoom() / 2 : 0;
        const QRectF seen = view().mapToScene(view().viewport()->rect()).boundingRect();
        wanted = !seen.adjusted(-taken, 0, taken, 0).contains(drawing->bounds);
    }
    view().setReserved(m_header->isMapWanted() && !wanted ? column : 0);
    if (wanted == isShown)
        return;
    m_minimap->setVisible(wanted);
    place();
}

void GraphPane::place()
{
    const int header = m_header->place(width(), m_views->x() + otherView().x());
    m_header->setGeometry(0, 0, width(), header);
    m_legend->setRoom(width() - 2 * kFooterMargin);
    const int footer = m_legend->isHidden() ? 0 : m_legend->height() + 1;
    const int column = m_minimap->isHidden() ? 0 : px(kMapWidth);
    const QRect canvas(column, header, width() - column, std::max(0, height() - header - footer));
    m_minimap->setGeometry(0, canvas.top(), column, canvas.height());
    m_views->setGeometry(canvas);
    m_body->setGeometry(rect());
    m_legend->move(width() - kFooterMargin - m_legend->width(), canvas.bottom() + 2);
    update();
}

} // namespace qs
