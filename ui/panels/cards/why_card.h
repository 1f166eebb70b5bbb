// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#ifndef Q_MOC_RUN
#include "engine/base/strong_id.h"
#include "engine/plan/summaries/data_movement.h"
#endif
#include "ui/style/property_cards.h"

#include <optional>

namespace qs {

class Workspace;

/// The decision on the selected node: verdict, reason, the rule and those it overrode, pattern and
/// constraints, rejected configs, and a suggestion, with a button if the window can apply it. GUI
/// thread only.
class WhyCard : public Card
{
    Q_OBJECT

public:
    WhyCard(Workspace& workspace, QWidget* parent);
    void refresh();

Q_SIGNALS:
    /// The user asks to apply the plan's suggestion for the node.
    void suggestionTaken(qs::NodeId node);

private:
    QString ruleText(const NodePlan& decided) const;
    QString constraintText(const NodePlan& decided) const;
    void showCoverage();
    void showOutputRules();
    void showMovement(const NodePlan& decided);
    void showCandidates(const NodePlan& decided);
    void showRemedy(const NodePlan& decided);

    Workspace& m_workspace;
    PlanPtr m_movementOf; ///< the plan of `m_movement`
    std::optional<DataMovement> m_movement;
};

} // namespace qs
