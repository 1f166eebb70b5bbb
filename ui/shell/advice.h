// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#ifndef Q_MOC_RUN
#include "engine/plan/plan.h"
#endif

#include <QObject>

namespace qs {

class MessageBar;
class Workspace;

/// Shows advice after each plan: conversion to float32 for a model in half precision; both remedies
/// for a rule without effect inside a fusion; the main reason if a plan quantizes nothing; the
/// number of verdicts that another backend changed. GUI thread only.
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

/// Returns the number of operators whose verdict differs between two plans of one model.
int changedVerdicts(const Plan& a, const Plan& b);

} // namespace qs
