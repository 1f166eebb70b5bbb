// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#ifndef Q_MOC_RUN
#include "engine/plan/plan.h"
#endif

#include <QObject>

namespace qs {

class MessageBar;
class Workspace;

/// Speaks up after each plan: a model of half precision, with the way to float32; a rule without
/// effect inside a fusion, with both ways out; a plan that quantizes nothing, with the main reason;
/// how many verdicts another backend changed. GUI thread only.
class Advice : public QObject
{
    Q_OBJECT

public:
    Advice(Workspace& workspace, MessageBar& messages, QObject* parent);

private:
    void onPlan();
    bool sayHalf(const Plan& plan, const Plan* before);
    bool sayCoverage(const Plan& plan);
    bool sayConflict(const Plan& plan, const Plan* before);
    void sayBackend(const Plan& plan, const Plan& before);

    Workspace& m_workspace;
    MessageBar& m_messages;
    int m_modelNumber = 0; ///< of the model that `m_before` was made for
    PlanPtr m_before;
};

/// Operators whose verdict differs between two plans of one model.
int changedVerdicts(const Plan& a, const Plan& b);

} // namespace qs
