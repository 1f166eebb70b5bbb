// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QScrollArea>

class QCheckBox;
class QComboBox;
class QDoubleSpinBox;
class QPushButton;
class QSpinBox;
class QStackedWidget;

namespace qs {

class ElidedLabel;
class FrontPlot;
class NoCauses;
class ShareBar;
class ShownCauses;
class Workspace;

/// The Cure page: the noise of the outputs cut by cause, the causes with their cures, and the
/// search for a recipe that reaches a goal. Scrolls if it has little room. GUI thread only.
class CurePage : public QScrollArea
{
    Q_OBJECT

public:
    explicit CurePage(Workspace& workspace, QWidget* parent = nullptr);

Q_SIGNALS:
    /// Nodes were selected: bring them into view.
    void revealWanted();
    void calibrateWanted();
    void findWanted();

private:
    void buildGoal(QWidget& row);
    void buildSearch(QWidget& row);
    QWidget* buildCauses(QWidget* parent);
    void setGoalKind(int kind);
    void takeFields();
    void refreshCauses();
    void refreshSearch();
    void refreshTake();
    QString noteText(bool& isWarning) const;
    QString runningText() const;
    QString endText() const;

    Workspace& m_workspace;
    ShownCauses* m_causes;
    QComboBox* m_goalKind;
    QDoubleSpinBox* m_goal;
    QSpinBox* m_keepInt8;
    QSpinBox* m_minutes;
    QCheckBox* m_trains;
    QPushButton* m_run;
    QPushButton* m_pause;
    QPushButton* m_stop;
    QPushButton* m_take; ///< the best so far
    ElidedLabel* m_note;
    QStackedWidget* m_stack; ///< the empty state, or the causes
    NoCauses* m_empty;
    ShareBar* m_bar;
    QPushButton* m_again; ///< finds the causes again
    FrontPlot* m_front;
    int m_tookOver = 0; ///< decisions that the trial taken last does not contain
};

} // namespace qs
