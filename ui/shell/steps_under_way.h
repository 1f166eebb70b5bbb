// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#ifndef Q_MOC_RUN
#include "engine/configure/recipe.h"
#endif

#include <QString>
#include <QStringList>

#include <optional>

namespace qs {

/// Decisions that are being applied, by the names that they have in the history, and the recipe
/// before and after them. A value.
struct StepsUnderWay
{
    QStringList names;
    Recipe before, after;
    /// "remove stem.relu" or "remove stem.relu, set conv2d to float"
    QString text() const { return names.join(QStringLiteral(", ")); }
};

/// Writes them to a file that is whole after any crash of the program. False: it cannot be written.
bool writeSteps(const StepsUnderWay& steps, const QString& file);
/// Empty if the file is missing or holds no steps.
std::optional<StepsUnderWay> readSteps(const QString& file);

} // namespace qs
