// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/pipeline/engine_service.h"

#include <QString>

namespace qs {

/// A converted model for display, with a note.
struct ShownConversion
{
    ConvertedPtr converted; ///< null if no outline can be made
    QString note;
};

/// Returns `converted`, or an outline (names without scales) if it is null. Making an outline runs
/// operators: call it on the engine's lane.
ShownConversion shownConversion(EngineService& engine, const GraphPtr& model, const PlanPtr& plan,
                                const Recipe& recipe, ConvertedPtr converted, JobContext& job);

} // namespace qs
