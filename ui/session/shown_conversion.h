// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "ui/session/engine_service.h"

#include <QString>

namespace qs {

/// A converted model to look at, and what is to be said about it.
struct ShownConversion
{
    ConvertedPtr converted; ///< null where no outline can be made
    QString note;
};

/// `converted`, or its outline, which has names and no scales, where there is none yet. An outline
/// runs operators: call it on the engine's lane then.
ShownConversion shownConversion(EngineService& engine, const GraphPtr& model, const PlanPtr& plan,
                                const Recipe& recipe, ConvertedPtr converted, JobContext& job);

} // namespace qs
