// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

class QLabel;
class QPushButton;

namespace qs {

/// In place of a page's contents: a sentence, and a button for the step that leads to them. Its
/// label and button are named `nameState` and `nameRemedy`. GUI thread only.
class EmptyNote : public QWidget
{
    Q_OBJECT

public:
    EmptyNote(const QString& name, QWidget* parent);

    /// `step`: the button's text; empty: no button.
    void tell(const QString& sentence, const QString& step);
    QPushButton* button() const { return m_button; }

Q_SIGNALS:
    void stepWanted();

private:
    QLabel* m_sentence;
    QPushButton* m_button;
};

} // namespace qs
