// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

class QComboBox;
class QLabel;
class QSpinBox;

namespace qs {

class ElidedLabel;
class InspectionLists;
class SampleView;
struct ChannelError;
class ValueInspections;
class Workspace;

/// The selected node's values: one sample in both models, and the loss of every channel, weight
/// channel and sample. Computes nothing itself. GUI thread only.
class ValuesPage : public QWidget
{
    Q_OBJECT

public:
    explicit ValuesPage(Workspace& workspace, QWidget* parent = nullptr);

    ValueInspections& inspections() { return *m_inspections; }
    /// Shows a sample of the data.
    void showSample(int sample);

protected:
    void showEvent(QShowEvent* event) override;
    void hideEvent(QHideEvent* event) override;

private:
    void buildBar(QWidget& bar);
    void aim();
    void refresh();
    void refreshBar();
    void showChannel(const ChannelError& channel);

    Workspace& m_workspace;
    ValueInspections* m_inspections;
    ElidedLabel* m_title;
    ElidedLabel* m_note;
    QComboBox* m_what;
    QSpinBox* m_sample;
    QComboBox* m_result;
    QSpinBox* m_plane;
    QLabel* m_planeLabel;
    QComboBox* m_mode;
    SampleView* m_view;
    InspectionLists* m_lists;
    QString m_pointed;
};

} // namespace qs
