// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/style/property_cards.h"

#ifndef Q_MOC_RUN
#include "engine/plan/module_statistics.h"
#endif

#include <memory>

namespace qs {

class Workspace;

/// Size and cost of the selected module: parameters, multiply-accumulates, bytes before and
/// after. Hidden for anything but a module. All modules are counted at once, on a pool thread,
/// when the first is shown and again after each plan. GUI thread only.
class ModuleCard : public Card
{
    Q_OBJECT

public:
    ModuleCard(Workspace& workspace, QWidget* parent);
    void refresh();

private:
    void count();

    Workspace& m_workspace;
    std::shared_ptr<const Graph> m_model; ///< the model of the last count
    int m_modelNumber = 0;
    std::shared_ptr<const Plan> m_plan;
    std::shared_ptr<const ModuleStatisticsMap> m_known; ///< null until the first count is done
};

} // namespace qs
