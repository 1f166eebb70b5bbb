// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/style/empty_note.h"

namespace qs {

/// The note in place of causes, with the step that leads to them. GUI thread only.
class NoCauses : public EmptyNote
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

Q_SIGNALS:
    void calibrateWanted();
    void findWanted();

private:
    Missing m_missing = Missing::Nothing;
};

} // namespace qs
