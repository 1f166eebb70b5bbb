// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#ifndef Q_MOC_RUN
#include "engine/configure/backend/entry_fields.h"
#endif

#include <QWidget>

class QComboBox;
class QFormLayout;
class QLabel;
class QLineEdit;
class QPushButton;

namespace qs {

class DTypeEditor;

/// The fields of one entry of a backend: pattern, observation, modules, dtype configs, and its
/// kernels in the lowering table. GUI thread only.
class EntryForm : public QWidget
{
    Q_OBJECT

public:
    explicit EntryForm(QWidget* parent);

    /// Sets the fields without emitting `edited`.
    void setFields(const EntryFields& fields);
    EntryFields fields() const;
    void setKernels(const QString& text);
    /// Focuses the first field, the pattern.
    void focusPattern();

Q_SIGNALS:
    /// The user changed a field.
    void edited();
    void loweringWanted();

private:
    QLineEdit* addLine(QFormLayout& form, const QString& label, const char* objectName,
                       const QString& toolTip);

    bool m_isShowing = false;
    QLineEdit* m_pattern;
    QComboBox* m_observation;
    QLineEdit* m_fused;
    QComboBox* m_fuser;
    QLineEdit* m_root;
    QLineEdit* m_reference;
    QLineEdit* m_qat;
    DTypeEditor* m_dtypes;
    QLabel* m_kernels;
};

} // namespace qs
