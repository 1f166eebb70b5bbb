// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/pipeline/engine_service.h"
#include "ui/session/jobs/pipeline.h"

#include <QDialog>

class QCheckBox;
class QComboBox;
class QLineEdit;
class QSpinBox;

namespace qs {

/// Asks for data, device and amount before a calibration. GUI thread only.
class CalibrateDialog : public QDialog
{
    Q_OBJECT

public:
    /// Browsing starts at the present data, else in the model's folder. A button offers comparison
    /// data beside the model; they are never chosen automatically.
    CalibrateDialog(const RunSettings& settings, const CalibrationSettings& amount,
                    const QString& modelPath, QWidget* parent);
    RunSettings settings() const;
    CalibrationSettings amount() const;

private:
    QLineEdit* pathField(const QString& name, const QString& value, const QString& hint);

    void offerSibling(const QString& sibling);
    QString folderOf(const QLineEdit& field) const;
    void browseFile(QLineEdit& field);
    void browseFolder(QLineEdit& field);

    CalibrationSettings m_amount; ///< as given: fields outside the dialog do not change
    RunSettings m_given; ///< settings that have no field stay as they are
    QString m_modelFolder;
    QLineEdit* m_data;
    QLineEdit* m_testData;
    QComboBox* m_device;
    QSpinBox* m_batchSize;
    QSpinBox* m_batches;
};

/// Asks for the forms and the folder of an export. GUI thread only.
class ExportDialog : public QDialog
{
    Q_OBJECT

public:
    ExportDialog(const std::vector<std::string>& forms, const QString& folder, QWidget* parent);
    ExportChoices choices() const;

private:
    QLineEdit* m_folder;
    QComboBox* m_target;
    QCheckBox* m_saturates;
    std::vector<std::pair<std::string, QCheckBox*>> m_forms;
    bool m_formsChosen = false; ///< the user changed the choice of forms
};

/// Asks for a new named qconfig, starting from another one. GUI thread only.
class QConfigDialog : public QDialog
{
    Q_OBJECT

public:
    QConfigDialog(const QConfig& start, const QStringList& takenNames, QWidget* parent);
    QString name() const;
    QConfig config() const;

private:
    QConfig m_start;
    QLineEdit* m_name;
    QComboBox* m_activation;
    QComboBox* m_activationType;
    QSpinBox* m_low;
    QSpinBox* m_high;
    QComboBox* m_eps;
    QComboBox* m_weight;
};

/// Returns data for calibration beside the model ("calib.npz"), else "sample".
QString guessCalibrationData(const QString& modelPath);
/// Returns data for comparison beside the model ("test.npz"), else empty. Offer them; do not use
/// them without the user's choice.
QString siblingComparisonData(const QString& modelPath);

} // namespace qs
