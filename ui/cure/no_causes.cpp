// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/cure/no_causes.h"

#include "ui/style/theme.h"
#include "ui/style/widgets.h"

#include <QLabel>
#include <QPushButton>

namespace qs {

NoCauses::NoCauses(const QString& name, QWidget* parent)
    : QWidget(parent)
    , m_sentence(new QLabel(this))
    , m_button(makeButton("", QString(), {}, this))
{
    m_sentence->setObjectName(name + QStringLiteral("State"));
    m_sentence->setAlignment(Qt::AlignCenter);
    m_sentence->setWordWrap(true);
    m_sentence->setStyleSheet(inkStyle(theme().muted));
    m_button->setObjectName(name + QStringLiteral("Remedy"));
    connect(m_button, &QPushButton::clicked, this, [this] {
        if (m_missing == Missing::Calibration)
            Q_EMIT calibrateWanted();
        else
            Q_EMIT findWanted();
    });
    auto* column = makeVBox(this, {}, px(8));
    column->addStretch(1);
    column->addWidget(m_sentence);
    column->addWidget(m_button, 0, Qt::AlignHCenter);
    column->addStretch(1);
}

void NoCauses::tell(const QString& sentence, Missing missing)
{
    m_missing = missing;
    m_sentence->setText(sentence);
    m_button->setVisible(missing != Missing::Nothing);
    m_button->setText(missing == Missing::Calibration ? tr("Calibrate…") : tr("Find causes"));
}

} // namespace qs
