// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#ifndef Q_MOC_RUN
#include "engine/configure/recipe.h"
#endif

#include <QString>
#include <QStringList>

#include <optional>

namespace qs {

/// Decisions that are being applied: their names in the history, and the recipe before and after. A
/// value.
struct StepsUnderWay
{
    QStringList names;
    Recipe before, after;
    /// "remove stem.relu" or "remove stem.relu, set conv2d to float"
    QString text() const { return names.join(QStringLiteral(", ")); }
};

/// Writes the steps to a file atomically: it is complete after any crash of the program. False if
/// it cannot be written.
bool writeSteps(const StepsUnderWay& steps, const QString& file);
/// Reads the steps; empty if the file is missing or invalid.
std::optional<StepsUnderWay> readSteps(const QString& file);

} // namespace qs
