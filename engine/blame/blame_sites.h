// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/job_context.h"
#include "engine/blame/blame.h"
#include "engine/calibrate/data/dataset.h"
#include "engine/convert/converted_model.h"
#include "engine/convert/qparams.h"

#include <unordered_map>
#include <vector>

namespace qs {

/// Quantizations per tensor to try for a value of the float model beside its own.
using RangesToTry = std::unordered_map<ValueRef, std::vector<QParams>>;

/// Predicts, for each site of the reference form, the noise that this site causes in the outputs,
/// from one backward pass through the model without quantizers. With noise d = Q(v) - v of the
/// float values and outputs y, each divided by the power of its signal:
///
///     share = E |J d|^2 = 1/(K n) sum over probes r and samples i of < d(r . y_i)/dv , d_i >^2
///
/// where r is +1 or -1 for each element of the outputs (Hutchinson 1990). Noise of a weight is
/// added to the results of the operators that read it. The square is taken per sample if exactly
/// one dimension of a value has the batch size (of several, exactly one symbolic), else over the
/// batch, whose samples have separate probes. A quantizer that changes no value, because its input
/// is already on the same grid, is not a site. The same passes predict the noise of a value with
/// the ranges `tries` (`SiteBlame::tried`): derivatives do not depend on quantizers. Results are
/// bit-identical for equal seed, data and number of threads.
///
/// Fails without a floating-point output or an output is not finite. Also: errors of the data,
/// Cancelled.
Result<BlamePtr> blameSites(const ConvertedModel& converted, const Dataset& data,
                            const std::string& device, const BlameOptions& options,
                            const JobContext& job = {}, const RangesToTry& tries = {});

} // namespace qs
