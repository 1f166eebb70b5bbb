// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/style/choice_bar.h"

#include "ui/style/theme.h"
#include "ui/style/widgets.h"

#include <QAbstractButton>
#include <QButtonGroup>
#include <QToolButton>

namespace qs {

ChoiceBar::ChoiceBar(const QString& name, const QString& accessibleName,
                     const QList<Choice>& choices, QWidget* parent)
    : QFrame(parent)
    , m_buttons(new QButtonGroup(this))
{
    setObjectName(name);
    setAccessibleName(accessibleName);
    const Theme& t = theme();
    setStyleSheet(
        QStringLiteral("QFrame { background: %1; border: 1px solid %2; border-radius: 5px; }"
                       "QToolButton { border: none; padding: 1px 6px; color: %3; }"
                       "QToolButton:hover, QToolButton:focus { color: %4; }"
                       "QToolButton:checked { color: %5; font-weight: 600; }")
            .arg(t.panel.name(), t.border.name(), t.muted.name(), t.text.name(), t.accent.name()));
    auto* row = makeHBox(this, {2, 0, 2, 0}, 0);
    for (int i = 0; i < choices.size(); ++i) {
        auto* button = new QToolButton(this);
        button->setObjectName(name + QString::number(i));
        button->setText(choices[i].word);
        button->setToolTip(choices[i].tip);
        button->setAccessibleName(choices[i].word);
        button->setCheckable(true);
        button->setFont(uiFont(11));
        m_buttons->addButton(button, i);
        row->addWidget(button);
    }
    setChosen(0);
    connect(m_buttons, &QButtonGroup::idClicked, this, &ChoiceBar::picked);
}

int ChoiceBar::chosen() const
{
    return m_buttons->checkedId();
}

void ChoiceBar::setChosen(int index)
{
    m_buttons->button(index)->setChecked(true);
}

void ChoiceBar::focusChosen()
{
    m_buttons->checkedButton()->setFocus(Qt::OtherFocusReason);
}

} // namespace qs
