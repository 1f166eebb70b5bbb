// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/panels/cards/module_card.h"

#include "engine/base/text.h"
#include "ui/session/workspace.h"

namespace qs {

namespace {

/// Returns "28.4 k", "1.2 M"; below a thousand the number itself.
QString countFigure(std::int64_t count)
{
    static const char* const units[] = {"", " k", " M", " G", " T"};
    double value = double(count);
    int unit = 0;
    for (; value >= 1000 && unit < 4; ++unit)
        value /= 1000;
    return QString::number(value, 'f', unit == 0 || value >= 100 ? 0 : 1)
        + QLatin1String(units[unit]);
}

QString byteFigure(std::int64_t count)
{
    return toQString(bytesText(double(count)));
}

} // namespace

ModuleCard::ModuleCard(Workspace& workspace, QWidget* parent)
    : Card(tr("Contents"), parent)
    , m_workspace(workspace)
{
    setToolTip(tr("Multiply-accumulates count convolutions, linear layers, matrix products, "
                  "attention and recurrent layers"));
    refresh();
}

void ModuleCard::refresh()
{
    const Filling filling(*this);
    const auto& model = m_workspace.document().model();
    const auto& selection = m_workspace.selection();
    const std::string path = selection.modulePath().toStdString();
    const bool shown = model && selection.isModule() && moduleOfPath(path) == path;
    setVisible(shown);
    if (!shown)
        return;
    const auto& plan = m_workspace.document().plan();
    if (model != m_model || plan != m_plan)
        count();
    if (!m_known) {
        addText(tr("Counting parameters and operations…"), true);
        return;
    }
    const auto it = m_known->find(path);
    const auto found = it == m_known->end() ? ModuleStatistics() : it->second;
    addRow(tr("parameters"), countFigure(found.parameters));
    addRow(tr("MACs"),
           countFigure(found.macs) + (found.openDimensions ? tr(" per sample") : QString())
               + (found.unknownOps > 0 ? tr(", %1 ops unknown").arg(found.unknownOps) : QString()));
    addRow(QStringLiteral("float"), byteFigure(found.floatBytes));
    if (plan)
        addRow(
            tr("planned"),
            found.floatBytes > 0
                ? QStringLiteral("%1 · %2 %")
                      .arg(byteFigure(found.plannedBytes))
                      .arg(100.0 * double(found.plannedBytes) / double(found.floatBytes), 0, 'f', 0)
                : byteFigure(found.plannedBytes));
}

/// Counts all modules on a pool thread. Meanwhile the previous plan's figures stay, but not those
/// of another model.
void ModuleCard::count()
{
    if (m_modelNumber != m_workspace.document().modelNumber())
        m_known.reset();
    m_modelNumber = m_workspace.document().modelNumber();
    m_model = m_workspace.document().model();
    m_plan = m_workspace.document().plan();
    m_workspace.pipeline().jobs().run(
        Lane::Pool, QStringLiteral("moduleStatistics"),
        [model = m_model, plan = m_plan](JobContext&) {
            return std::make_shared<const ModuleStatisticsMap>(
                moduleStatistics(*model, plan.get()));
        },
        this,
        [this](std::shared_ptr<const ModuleStatisticsMap> known) {
            m_known = std::move(known);
            refresh();
        });
}

} // namespace qs
