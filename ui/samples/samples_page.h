// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/samples/sample_table.h"

#include <QWidget>

class QCheckBox;
class QPushButton;
class QSplitter;
class QStackedWidget;
class QTableView;

namespace qs {

class ConfusionView;
class ElidedLabel;
class EmptyNote;
class FigureProxy;

/// The Samples page: the samples that lost most with both predictions, and the confusion matrix of
/// the two models. A cell of the matrix filters the list. GUI thread only.
class SamplesPage : public QWidget
{
    Q_OBJECT

public:
    explicit SamplesPage(Workspace& workspace, QWidget* parent = nullptr);

Q_SIGNALS:
    void calibrateWanted();
    void compareWanted();
    /// A sample of the data that the window inspects values on was selected.
    void sampleChosen(int sample);

protected:
    bool eventFilter(QObject* watched, QEvent* event) final;

private:
    QWidget* buildSamples(QWidget* parent);
    QWidget* buildList(QWidget* parent);
    void buildTable();
    void showColumns();
    void refresh();
    void filter();
    void showNote();
    void setCell(const std::optional<ClassPair>& cell);
    void takeRow();

    Workspace& m_workspace;
    SampleTable* m_samples;
    SamplePictures* m_pictures;
    FigureProxy* m_proxy;
    QStackedWidget* m_stack; ///< the empty state, or the samples
    EmptyNote* m_empty;
    ElidedLabel* m_note;
    QCheckBox* m_changed; ///< lists only samples whose class changed
    QPushButton* m_all; ///< ends the filter
    QPushButton* m_again; ///< compares again
    QTableView* m_table;
    ConfusionView* m_confusion;
    std::optional<ClassPair> m_cell; ///< whose samples are listed
};

} // namespace qs
