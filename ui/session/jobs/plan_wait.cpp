// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/jobs/plan_wait.h"

namespace qs {

QString planWaitText(const Pipeline& pipeline)
{
    return pipeline.status(Stage::Plan).state == StageStatus::State::Failed
        ? QObject::tr("Not planned: planning these decisions failed, see the message or the log.")
        : QObject::tr("Planning…");
}

} // namespace qs
