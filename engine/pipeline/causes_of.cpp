// SPDX-License-Identifier: Apache-2.0
#include "engine/pipeline/causes_of.h"

#include "engine/verify/certificate.h"

namespace qs {

DiagnosisParts diagnosisParts(const Calibration& calibration, const Blame& blame,
                              std::shared_ptr<const Addresses> addresses)
{
    DiagnosisParts parts;
    parts.blame = &blame;
    parts.prepared = calibration.prepared.get();
    parts.observations = calibration.observations.get();
    parts.qparams = &calibration.qparams;
    parts.addresses = std::move(addresses);
    parts.eightBitsHold = hasDotProduct();
    return parts;
}

std::vector<Cause> causesOf(const Calibration& calibration, const Blame& blame,
                            std::shared_ptr<const Addresses> addresses)
{
    return diagnose(diagnosisParts(calibration, blame, std::move(addresses)));
}

} // namespace qs
