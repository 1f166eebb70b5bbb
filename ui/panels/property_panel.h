// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

class QLabel;
class QScrollArea;

namespace qs {

class Card;
class ElidedLabel;
class QConfigEditor;
class Workspace;
struct Node;
struct NodePlan;

/// The right-hand panel: what is selected, how it is quantized, why, what it loses, its arguments.
/// GUI thread only.
class PropertyPanel : public QWidget
{
    Q_OBJECT

public:
    explicit PropertyPanel(Workspace& workspace, QWidget* parent = nullptr);
    QConfigEditor& editor() { return *m_editor; }

private:
    void refresh();
    void showHeader();
    void showWhy();
    void showCandidates(const NodePlan& decided);
    void showRemedy(const NodePlan& decided);
    void showLoss();
    void showArguments();
    QString ruleText(const NodePlan& decided) const;
    QString constraintText(const NodePlan& decided) const;

    Workspace& m_workspace;
    ElidedLabel* m_title;
    QLabel* m_id;
    ElidedLabel* m_subtitle;
    QWidget* m_cards;
    QLabel* m_empty;
    Card* m_quantization;
    QConfigEditor* m_editor;
    Card* m_why;
    Card* m_loss;
    Card* m_arguments;
};

} // namespace qs
