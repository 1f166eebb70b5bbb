// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

class QLabel;
class QPushButton;

namespace qs {

/// In the place of causes: a sentence, and a button for the step that leads to them. Its label and
/// button are named `nameState` and `nameRemedy`. GUI thread only.
class NoCauses : public QWidget
{
    Q_OBJECT

public:
    /// The step that is missing.
    enum class Missing
    {
        Nothing, ///< no button
        Calibration,
        Search
    };

    NoCauses(const QString& name, QWidget* parent);

    void tell(const QString& sentence, Missing missing);
    QPushButton* button() const { return m_button; }

Q_SIGNALS:
    void calibrateWanted();
    void findWanted();

private:
    QLabel* m_sentence;
    QPushButton* m_button;
    Missing m_missing = Missing::Nothing;
};

} // namespace qs
