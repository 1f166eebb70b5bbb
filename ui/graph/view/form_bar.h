// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#ifndef Q_MOC_RUN
#include "engine/export/forms/code_forms.h"
#endif

#include <QFrame>

class QAbstractButton;
class QButtonGroup;
class QToolButton;

namespace qs {

/// A row of buttons that chooses the form of the model; `withSplit`: also the switch that shows two
/// forms side by side. GUI thread only.
class FormBar : public QFrame
{
    Q_OBJECT

public:
    /// `name` begins the object names of its buttons: "graphForm" gives "graphFormLowered".
    FormBar(const QString& name, bool withSplit, QWidget* parent);
    void setForm(CodeForm form);
    void setSplit(bool split);

Q_SIGNALS:
    void formChosen(qs::CodeForm form);
    void splitChosen(bool split);

private:
    QButtonGroup* m_forms;
    QToolButton* m_split = nullptr;
};

} // namespace qs
