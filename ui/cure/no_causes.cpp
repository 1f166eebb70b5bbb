// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/cure/no_causes.h"

namespace qs {

NoCauses::NoCauses(const QString& name, QWidget* parent)
    : EmptyNote(name, parent)
{
    connect(this, &EmptyNote::stepWanted, this, [this] {
        if (m_missing == Missing::Calibration)
            Q_EMIT calibrateWanted();
        else
            Q_EMIT findWanted();
    });
}

void NoCauses::tell(const QString& sentence, Missing missing)
{
    m_missing = missing;
    EmptyNote::tell(sentence,
                    missing == Missing::Nothing           ? QString()
                        : missing == Missing::Calibration ? tr("Calibrate…")
                                                          : tr("Find causes"));
}

} // namespace qs
