// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/plots/range_bar.h"

#include "ui/plots/range_trial.h"
#include "ui/session/text.h"
#include "ui/style/property_cards.h"
#include "ui/style/theme.h"
#include "ui/style/widgets.h"

#include <QComboBox>
#include <QGridLayout>
#include <QPushButton>
#include <QSignalBlocker>

#include <cmath>

namespace qs {

RangeBar::RangeBar(QWidget* parent)
    : QWidget(parent)
    , m_grid(new QGridLayout(this))
    , m_text(new ElidedLabel(QString(), monoFont(10.5), this))
    , m_effect(new ElidedLabel(QString(), monoFont(10.5), this))
    , m_snap(new QComboBox(this))
    , m_apply(new QPushButton(tr("Apply"), this))
    , m_back(new QPushButton(tr("Back"), this))
{
    m_text->setObjectName(QStringLiteral("rangeError"));
    m_text->setColor(theme().muted);
    m_effect->setObjectName(QStringLiteral("rangeEffect"));
    m_effect->setColor(theme().text);
    m_effect->hide();
    setNames(*m_snap, "rangeSnap", tr("Range by a method"),
             tr("Set the range as a method would; S steps through the methods"));
    setNames(*m_apply, "rangeApply", tr("Apply the range"),
             tr("Keep this range by rules (Enter); can be undone"));
    m_apply->setProperty("primary", true);
    setNames(*m_back, "rangeBack", tr("Reset the range"), tr("Reset the range (Escape)"));
    for (QWidget* widget : std::initializer_list<QWidget*> {m_snap, m_apply, m_back})
        widget->setFont(uiFont(11));
    m_snap->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
    m_snap->setMinimumContentsLength(8);
    m_grid->setContentsMargins(0, 0, 0, 0);
    m_grid->setSpacing(6);
    m_grid->setColumnStretch(0, 1);
    m_grid->addWidget(m_text, 1, 0);
    m_grid->addWidget(m_effect, 2, 0, 1, 4);
    m_grid->addWidget(m_snap, 1, 1);
    m_grid->addWidget(m_back, 1, 2);
    m_grid->addWidget(m_apply, 1, 3);
    connect(m_apply, &QPushButton::clicked, this, &RangeBar::applyWanted);
    connect(m_back, &QPushButton::clicked, this, &RangeBar::backWanted);
    connect(m_snap, &QComboBox::activated, this, [this](int index) {
        if (index > 0)
            Q_EMIT snapWanted(index - 1);
    });
    setSnaps({});
}

void RangeBar::showEffect(const QString& text)
{
    m_effect->setText(text);
    m_effect->setVisible(!text.isEmpty());
}

void RangeBar::setSnaps(const std::vector<Alternative>& snaps)
{
    QStringList names {tr("Range by…")};
    for (const Alternative& one : snaps)
        names << toQString(one.name);
    m_snap->setEnabled(!snaps.empty());
    if (names == m_names)
        return;
    m_names = names;
    const QSignalBlocker quiet(m_snap);
    m_snap->clear();
    m_snap->addItems(names);
}

void RangeBar::show(const RangeTrial& trial)
{
    m_apply->setVisible(trial.isMoved() && m_applicable);
    m_back->setVisible(trial.isMoved());
    // With the buttons shown, the text takes a separate line.
    if (const bool isAlone = trial.isMoved(); isAlone != m_isAlone) {
        m_isAlone = isAlone;
        m_grid->removeWidget(m_text);
        m_grid->addWidget(m_text, isAlone ? 0 : 1, 0, 1, isAlone ? 4 : 1);
    }
    if (!trial.isMoved())
        m_snap->setCurrentIndex(0);
    const auto& noise = trial.noise();
    const auto db = noise ? noise->sqnrDb() : std::nullopt;
    if (!db) {
        m_text->setText({});
        return;
    }
    QString text = QStringLiteral("≈ ") + shownSqnr(*db);
    const auto before = trial.noiseBefore() ? trial.noiseBefore()->sqnrDb() : std::nullopt;
    if (trial.isMoved() && before)
        text += tr(" (now %1)").arg(shownSqnr(*before, ""));
    if (noise->total() > 0)
        text += tr(" · clipping %1 % · rounding %2 %")
                    .arg(std::lround(100 * noise->clipping / noise->total()))
                    .arg(std::lround(100 * noise->rounding / noise->total()));
    m_text->setText(text);
}

} // namespace qs
