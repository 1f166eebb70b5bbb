// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/style/empty_note.h"

#include "ui/style/theme.h"
#include "ui/style/widgets.h"

namespace qs {

EmptyNote::EmptyNote(const QString& name, QWidget* parent)
    : QWidget(parent)
    , m_sentence(new QLabel(this))
    , m_button(makeButton("", QString(), {}, this))
{
    m_sentence->setObjectName(name + QStringLiteral("State"));
    m_sentence->setAlignment(Qt::AlignCenter);
    m_sentence->setWordWrap(true);
    m_sentence->setStyleSheet(inkStyle(theme().muted));
    m_button->setObjectName(name + QStringLiteral("Remedy"));
    connect(m_button, &QPushButton::clicked, this, &EmptyNote::stepWanted);
    auto* column = makeVBox(this, {}, px(8));
    column->addStretch(1);
    column->addWidget(m_sentence);
    column->addWidget(m_button, 0, Qt::AlignHCenter);
    column->addStretch(1);
}

void EmptyNote::tell(const QString& sentence, const QString& step)
{
    m_sentence->setText(sentence);
    m_button->setVisible(!step.isEmpty());
    m_button->setText(step);
}

} // namespace qs
