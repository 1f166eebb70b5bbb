// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panels/module_card.h"

#include "engine/plan/module_statistics.h"
#include "ui/session/workspace.h"

namespace qs {

namespace {

/// "28.4 k", "1.2 M"; below a thousand the figure itself.
QString figureText(std::int64_t count, double step, const char* const (&units)[5])
{
    double value = double(count);
    int unit = 0;
    while (value >= step && unit < 4) {
        value /= step;
        ++unit;
    }
    return QStringLiteral("%1 %2")
        .arg(value, 0, 'f', unit == 0 || value >= 100 ? 0 : 1)
        .arg(QString::fromLatin1(units[unit]))
        .trimmed();
}

QString countFigure(std::int64_t count)
{
    return figureText(count, 1000, {"", "k", "M", "G", "T"});
}

QString byteFigure(std::int64_t count)
{
    return figureText(count, 1024, {"B", "KiB", "MiB", "GiB", "TiB"});
}

} // namespace

ModuleCard::ModuleCard(Workspace& workspace, QWidget* parent)
    : Card(QStringLiteral("Contents"), parent)
    , m_workspace(workspace)
{
    setToolTip(QStringLiteral("Multiply-accumulates count convolutions, linear layers, matrix "
                              "products, attention and recurrent layers"));
    refresh();
}

void ModuleCard::refresh()
{
    clearRows();
    const auto& model = m_workspace.document().model();
    const auto& selection = m_workspace.selection();
    const std::string path = selection.modulePath().toStdString();
    const bool shown = model && selection.isModule() && moduleOfPath(path) == path;
    setVisible(shown);
    if (!shown)
        return;
    const auto found = moduleStatistics(*model, m_workspace.document().plan().get(), path);
    addRow(QStringLiteral("parameters"), countFigure(found.parameters));
    addRow(QStringLiteral("MACs"),
           countFigure(found.macs)
               + (found.openDimensions ? QStringLiteral(" per sample") : QString())
               + (found.unknownOps > 0 ? QStringLiteral(", %1 ops unknown").arg(found.unknownOps)
                                       : QString()));
    addRow(QStringLiteral("float"), byteFigure(found.floatBytes));
    if (m_workspace.document().plan())
        addRow(
            QStringLiteral("planned"),
            found.floatBytes > 0
                ? QStringLiteral("%1 · %2 %")
                      .arg(byteFigure(found.plannedBytes))
                      .arg(100.0 * double(found.plannedBytes) / double(found.floatBytes), 0, 'f', 0)
                : byteFigure(found.plannedBytes));
}

} // namespace qs
