// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/shown_conversion.h"

namespace qs {

ShownConversion shownConversion(EngineService& engine, const GraphPtr& model, const PlanPtr& plan,
                                const Recipe& recipe, ConvertedPtr converted, JobContext& job)
{
    if (converted)
        return {std::move(converted), {}};
    const auto outline = engine.outline(model, plan, recipe, job);
    if (outline)
        return {*outline, QObject::tr("Names only: calibrate and convert to see the scales")};
    return {nullptr,
            QObject::tr("No converted form yet: %1")
                .arg(QString::fromStdString(outline.error().line()))};
}

} // namespace qs
