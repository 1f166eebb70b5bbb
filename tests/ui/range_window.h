// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "tests/ui/edge_window.h"

#include <QTreeWidget>
#include <QTreeWidgetItemIterator>

namespace qs::test {

/// The same, with hands on the histogram's range and on the alternatives.
class RangeWindow : public EdgeWindow
{
protected:
    /// Null also while the alternatives are worked out: the tree still has those before.
    QTreeWidgetItem* alternative(const QString& name)
    {
        auto* tree = find<QTreeWidget>("alternativesTree");
        if (!find<QWidget>("alternativesWait")->isHidden())
            return nullptr;
        for (QTreeWidgetItemIterator it(tree); *it; ++it)
            if ((*it)->data(0, Qt::UserRole + 1).toString() == name)
                return *it;
        return nullptr;
    }

    QWidget& plot() { return *find<QWidget>("histogram"); }

    void drag(int side, int by)
    {
        const QPoint from = histogram().endPosition(side);
        QTest::mousePress(&plot(), Qt::LeftButton, Qt::ShiftModifier, from);
        for (int i = 1; i <= 4; ++i) {
            QMouseEvent move(QEvent::MouseMove, QPointF(from + QPoint(by * i / 4, 0)),
                             plot().mapToGlobal(QPointF(from + QPoint(by * i / 4, 0))),
                             Qt::NoButton, Qt::LeftButton, Qt::ShiftModifier);
            QCoreApplication::sendEvent(&plot(), &move);
        }
        QTest::mouseRelease(&plot(), Qt::LeftButton, Qt::ShiftModifier, from + QPoint(by, 0));
    }

    /// Selects the node and waits for its histogram; false where it has no range to look at.
    bool inspectValue(NodeId node)
    {
        const ObserverId observer = workspace().facts().outputObserver(node);
        const ObserverStats* stats = workspace().facts().stats(observer);
        const QParams* params = workspace().facts().qparams(observer);
        if (!shownHistogram(stats) || shownHistogram(stats)->empty() || !params
            || params->scale.size() != 1 || !workspace().facts().observerOn({node, 0}))
            return false;
        workspace().selectNode(node);
        return QTest::qWaitFor(
            [&] { return histogram().shown() == observer && !histogram().trial().isMoved(); });
    }
};

} // namespace qs::test
