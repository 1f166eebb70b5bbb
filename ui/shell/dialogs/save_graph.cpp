// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/dialogs/save_graph.h"

#include "ui/frame/message_bar.h"
#include "ui/graph/export/graph_export.h"

#include <QApplication>
#include <QFileDialog>
#include <QInputDialog>

namespace qs {

void saveGraph(GraphCanvas& canvas, MessageBar& messages)
{
    QWidget* const window = messages.window();
    const QString path = QFileDialog::getSaveFileName(window, QObject::tr("Save graph"),
                                                      QStringLiteral("graph.svg"),
                                                      QObject::tr("Graphs (*.svg *.pdf *.png)"));
    if (path.isEmpty())
        return;
    double percent = 100;
    if (path.endsWith(QLatin1String(".png"), Qt::CaseInsensitive)) {
        const QSize size = pictureSize(canvas, 1);
        bool chosen = false;
        percent = QInputDialog::getDouble(window, QObject::tr("Save graph"),
                                          QObject::tr("Size in percent (100 % is %1×%2 pixels)")
                                              .arg(size.width())
                                              .arg(size.height()),
                                          100, 1, 1000, 0, &chosen);
        if (!chosen)
            return;
    }
    QApplication::setOverrideCursor(Qt::WaitCursor);
    const auto written = exportGraph(canvas, path, percent / 100);
    QApplication::restoreOverrideCursor();
    if (!written)
        messages.showError(QObject::tr("Saving the graph"), written.error());
}

} // namespace qs
