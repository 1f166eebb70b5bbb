// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#ifndef Q_MOC_RUN
#include "engine/train/training.h"
#endif

#include <QWidget>

class QCheckBox;
class QComboBox;
class QGridLayout;
class QLineEdit;
class QSpinBox;

namespace qs {

/// The options of a training, in two columns. GUI thread only.
class TrainOptions : public QWidget
{
    Q_OBJECT

public:
    explicit TrainOptions(QWidget* parent);
    /// Adds a wide field below both columns, in line with the others; no label if `text` is empty.
    void addWide(const QString& text, QWidget& field);

    TrainingSettings settings() const;
    /// True without the ranges of a calibration.
    bool isFromScratch() const;
    /// Shows these options; those without a field stay as they are.
    void setOptions(const TrainingSettings& settings, bool isFromScratch);
    /// Without labels in the data no training by them can be chosen.
    void setHasLabels(bool hasLabels);
    /// Returns why a field has no valid value; empty if all have.
    QString problem() const;

Q_SIGNALS:
    void changed();

private:
    void buildTimes(QGridLayout& grid);
    void buildMethod(QGridLayout& grid);

    TrainingSettings m_base; ///< as given
    QSpinBox* m_steps;
    QSpinBox* m_minutes;
    QComboBox* m_start;
    QCheckBox* m_scales;
    QComboBox* m_loss;
    QLineEdit* m_rate;
    QSpinBox* m_guard;
    QSpinBox* m_norms;
};

} // namespace qs
