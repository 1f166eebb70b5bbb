// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/models/style_rule_model.h"

#include <QWidget>

class QLabel;
class QPushButton;
class QTableView;

namespace qs {

class Workspace;

/// The list of style rules and its editor, usable from the keyboard: Insert adds a
/// rule, Delete removes it, Ctrl+Shift+Up and Down move it, Space shows or hides detail, F2 or
/// typing edits. GUI thread only.
class StylePanel : public QWidget
{
    Q_OBJECT

public:
    explicit StylePanel(Workspace& workspace, QWidget* parent = nullptr);
    StyleRuleModel& model() { return *m_model; }
    /// Adds a rule for the results of a search, in the next colour, and starts editing it.
    void addRule(const QString& query);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void removeRule();
    void moveRule(int by);
    void refresh();
    int currentRow() const;
    bool isOurKey(int key, Qt::KeyboardModifiers modifiers) const;

    StyleRules& m_rules;
    StyleRuleModel* m_model;
    QTableView* m_table;
    QLabel* m_note;
    QPushButton *m_add, *m_remove, *m_up, *m_down;
};

} // namespace qs
