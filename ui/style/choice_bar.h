// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QFrame>

class QButtonGroup;

namespace qs {

/// A few words in a row of which one is chosen. Tab reaches it, arrows or Space choose. GUI thread
/// only.
class ChoiceBar : public QFrame
{
    Q_OBJECT

public:
    /// A choice: its word and what it shows.
    struct Choice
    {
        QString word, tip;
    };
    /// Each button has the object name NAME0, NAME1 ...
    ChoiceBar(const QString& name, const QString& accessibleName, const QList<Choice>& choices,
              QWidget* parent);

    int chosen() const;
    /// Without `picked`.
    void setChosen(int index);
    /// Moves the keyboard focus to the chosen word.
    void focusChosen();

Q_SIGNALS:
    /// The user chose.
    void picked(int index);

private:
    QButtonGroup* m_buttons;
};

} // namespace qs
