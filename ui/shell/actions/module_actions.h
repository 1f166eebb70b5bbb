// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>

namespace qs {

class Actions;
class Workspace;

/// What the recipe's `prepare` block can say of the selected module as a whole: keep it as a float
/// leaf, quantize it alone, show it as one node. Each is a switch that follows selection and
/// recipe, and an undoable change. GUI thread only.
class ModuleActions : public QObject
{
    Q_OBJECT

public:
    ModuleActions(Actions& actions, Workspace& workspace, QObject* parent);

private:
    /// The module the selection stands for; "" where it is the model itself, nothing, or operators
    /// that are only part of a module.
    std::string selectedModule() const;
    /// As `prepare.wrap` names it: of an operator, the method its line stands in; "" as above.
    std::string selectedWrap() const;
    void toggle(const char* key, const std::string& name, const QString& on, const QString& off);
    void refresh();

    Actions& m_actions;
    Workspace& m_workspace;
};

} // namespace qs
