// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#ifndef Q_MOC_RUN
#include "engine/configure/custom_config.h"
#endif

#include <QObject>

namespace qs {

class Actions;
class Workspace;

/// Entries of the recipe's `prepare` block for the selected module: keep it as a float leaf,
/// quantize only it, show it as one node. Each is a switch that follows selection and recipe, and
/// an undoable change. GUI thread only.
class ModuleActions : public QObject
{
    Q_OBJECT

public:
    ModuleActions(Actions& actions, Workspace& workspace, QObject* parent);

private:
    /// The path of the selected module; "" if nothing, the model itself, or only a part of a module
    /// is selected.
    std::string selectedModule() const;
    /// The name of the selected module for `prepare.wrap`; for an operator the method of its source
    /// line; "" as above.
    std::string selectedWrap() const;
    void toggle(PrepareNames list, const std::string& name, const QString& on, const QString& off);
    void refresh();

    Actions& m_actions;
    Workspace& m_workspace;
};

} // namespace qs
