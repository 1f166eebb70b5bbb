// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QWidget>

#include <initializer_list>
#include <vector>

class QPushButton;
class QToolButton;

namespace qs {

/// Buttons in a row. Buttons without room move to the menu of a button at the end, with their
/// texts, tool tips and enabled states. GUI thread only.
class ButtonRow : public QWidget
{
    Q_OBJECT

public:
    /// Owns the buttons. `name`: object name of the button with the menu.
    ButtonRow(const char* name, std::initializer_list<QPushButton*> buttons, QWidget* parent);
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override; ///< of the button with the menu alone

protected:
    void resizeEvent(QResizeEvent* event) override;
    void showEvent(QShowEvent* event) override;

private:
    void fit();
    void fillMenu();
    int widthOf(std::size_t count) const;

    std::vector<QPushButton*> m_buttons;
    QToolButton* m_more;
};

} // namespace qs
