// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/graph/view/saved_views.h"

#include "ui/graph/view/graph_pane.h"
#include "ui/session/workspace.h"

#include <QKeyEvent>

namespace qs {

SavedViews::SavedViews(Workspace& workspace, GraphPane& pane, QObject* parent)
    : QObject(parent)
    , m_pane(pane)
{
    pane.view().installEventFilter(this);
    connect(&pane, &GraphPane::layoutFinished, this, &SavedViews::arrive);
    connect(&workspace.document(), &Document::modelChanged, this, [this] {
        m_kept.clear();
        m_wanted = 0;
    });
}

bool SavedViews::eventFilter(QObject* watched, QEvent* event)
{
    if (event->type() == QEvent::KeyPress) {
        const auto* key = static_cast<QKeyEvent*>(event);
        const int digit = key->key() - Qt::Key_0;
        const auto modifiers = key->modifiers() & ~Qt::KeypadModifier;
        const bool asked = modifiers == Qt::NoModifier || modifiers == Qt::AltModifier;
        if (digit >= 1 && digit <= 9 && asked && m_pane.view().graphScene().drawing()) {
            modifiers ? keep(digit) : goTo(digit);
            return true;
        }
    }
    return QObject::eventFilter(watched, event);
}

void SavedViews::keep(int digit)
{
    auto& view = m_pane.view();
    m_kept[digit]
        = {m_pane.expanded(), view.mapToScene(view.viewport()->rect().center()), view.zoom()};
    Q_EMIT told(tr("View saved: %1 returns to it").arg(digit));
}

void SavedViews::goTo(int digit)
{
    const auto kept = m_kept.find(digit);
    if (kept == m_kept.end()) {
        Q_EMIT told(tr("No view is saved under %1: Alt+%1 saves the current one").arg(digit));
        return;
    }
    m_wanted = digit;
    if (kept->second.expanded == m_pane.expanded() && m_pane.isLayoutDone())
        arrive();
    else
        m_pane.setExpanded(kept->second.expanded);
}

void SavedViews::arrive()
{
    const auto kept = m_kept.find(m_wanted);
    m_wanted = 0;
    if (kept == m_kept.end())
        return;
    m_pane.view().setZoom(kept->second.zoom);
    m_pane.view().centerOn(kept->second.middle);
}

} // namespace qs
