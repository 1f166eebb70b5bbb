// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#ifndef Q_MOC_RUN
#include "engine/runs/run_record.h"
#endif

#include <QString>

#include <memory>

namespace qs {

/// A kept run that the views show in place of the current result, on the nodes of the open model.
struct ShownRun
{
    QString letter; ///< "A"
    QString folder; ///< identifies it in the list of runs
    RunRecordPtr record;
    ComparisonPtr comparison; ///< by `comparisonOf` from record and model
    /// "Run A · seven bits"
    QString title() const
    {
        return QObject::tr("Run %1 · %2").arg(letter, QString::fromStdString(record->label.name));
    }
};
using ShownRunPtr = std::shared_ptr<const ShownRun>;

} // namespace qs
