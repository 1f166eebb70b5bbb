// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/style/button_row.h"

#include "ui/style/widgets.h"

#include <QMenu>
#include <QToolButton>

#include <algorithm>

namespace qs {

namespace {

constexpr int kButtonGap = 4;

} // namespace

ButtonRow::ButtonRow(const char* name, std::initializer_list<QPushButton*> buttons, QWidget* parent)
    : QWidget(parent)
    , m_buttons(buttons)
    , m_more(new QToolButton(this))
{
    auto* row = makeHBox(this, {}, kButtonGap);
    row->setSizeConstraint(QLayout::SetNoConstraint); // buttons without room are in the menu
    for (QPushButton* button : m_buttons)
        row->addWidget(button);
    setNames(*m_more, name, tr("More"), tr("More buttons"));
    m_more->setText(QStringLiteral("⋯"));
    m_more->setAutoRaise(true);
    m_more->setStyleSheet(QStringLiteral("QToolButton::menu-indicator { image: none; }"));
    m_more->setPopupMode(QToolButton::InstantPopup);
    auto* menu = new QMenu(m_more);
    menu->setToolTipsVisible(true);
    m_more->setMenu(menu);
    connect(menu, &QMenu::aboutToShow, this, &ButtonRow::fillMenu);
    row->addWidget(m_more);
    row->addStretch(1);
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Fixed);
}

/// Returns the width of the first `count` buttons.
int ButtonRow::widthOf(std::size_t count) const
{
    int width = 0;
    for (std::size_t i = 0; i < count; ++i)
        width += m_buttons[i]->sizeHint().width() + (i > 0 ? kButtonGap : 0);
    return width;
}

QSize ButtonRow::sizeHint() const
{
    int height = m_more->sizeHint().height();
    for (const QPushButton* button : m_buttons)
        height = std::max(height, button->sizeHint().height());
    return {widthOf(m_buttons.size()), height};
}

QSize ButtonRow::minimumSizeHint() const
{
    return {m_more->sizeHint().width(), sizeHint().height()};
}

void ButtonRow::resizeEvent(QResizeEvent* event)
{
    QWidget::resizeEvent(event);
    fit();
}

void ButtonRow::showEvent(QShowEvent* event)
{
    QWidget::showEvent(event);
    fit(); // the buttons are polished now
}

void ButtonRow::fit()
{
    std::size_t shown = m_buttons.size();
    if (widthOf(shown) > width()) {
        const int room = width() - kButtonGap - m_more->sizeHint().width();
        while (shown > 0 && widthOf(shown) > room)
            --shown;
    }
    for (std::size_t i = 0; i < m_buttons.size(); ++i)
        m_buttons[i]->setVisible(i < shown);
    m_more->setVisible(shown < m_buttons.size());
}

void ButtonRow::fillMenu()
{
    m_more->menu()->clear();
    for (QPushButton* button : m_buttons) {
        if (!button->isHidden())
            continue;
        QAction* action = m_more->menu()->addAction(button->text());
        action->setToolTip(button->toolTip());
        action->setEnabled(button->isEnabled());
        connect(action, &QAction::triggered, button, [button] { button->click(); });
    }
}

} // namespace qs
