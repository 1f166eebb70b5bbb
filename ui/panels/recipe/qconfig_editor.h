// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/session/decisions/assign_scopes.h"

#include <QWidget>

class QCheckBox;
class QComboBox;

namespace qs {

class ElidedLabel;
class QConfigBox;
class Workspace;

/// Chooses the qconfig of the selection (nodes or a module) at the scope that the user picks; each
/// choice is one undoable step. GUI thread only.
class QConfigEditor : public QWidget
{
    Q_OBJECT

public:
    explicit QConfigEditor(Workspace& workspace, QWidget* parent = nullptr);
    /// Updates to the current selection.
    void refresh();

Q_SIGNALS:
    void newQConfigWanted();

private:
    void fillQConfigs();
    void apply(int index);
    void showFloatResult();
    NodeId firstQuantized() const;
    QString specText(bool weight) const;

    Workspace& m_workspace;
    QConfigBox* m_qconfig;
    QComboBox* m_scope;
    ElidedLabel* m_activation;
    ElidedLabel* m_weight;
    QCheckBox* m_floatResult;
    std::vector<AssignScope> m_scopes;
};

} // namespace qs
