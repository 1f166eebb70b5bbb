// SPDX-License-Identifier: Apache-2.0
#include "engine/pipeline/causes_of.h"

#include "engine/verify/certificate.h"

namespace qs {

DiagnosisParts diagnosisParts(const Calibration& calibration, const Blame& blame,
                              const GraphPtr& file)
{
    DiagnosisParts parts;
    parts.blame = &blame;
    parts.prepared = calibration.prepared.get();
    parts.observations = calibration.observations.get();
    parts.qparams = &calibration.qparams;
    parts.file = file;
    parts.eightBitsHold = hasDotProduct();
    return parts;
}

std::vector<Cause> causesOf(const Calibration& calibration, const Blame& blame,
                            const GraphPtr& file)
{
    return diagnose(diagnosisParts(calibration, blame, file));
}

} // namespace qs
