// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/memo.h"
#include "engine/calibrate/data/dataset.h"
#include "engine/convert/converted_model.h"

namespace qs {

/// Checks of earlier conversions, for kernels that compute the same from the same values.
struct KnownChecks
{
    Memo& memo;
    Key batch; ///< of the model, the batch and whatever else decides what kernels compute
};

/// How a conversion checks its kernels.
struct KernelChecking
{
    const Batch* batch = nullptr; ///< null: nothing is checked
    /// Not null: the model is converted as it was written earlier, without exactly these kernels;
    /// the checks report the others on this batch.
    const std::vector<RefusedKernel>* refused = nullptr;
    const KnownChecks* known = nullptr; ///< null: every kernel is checked
    /// Another rank has checked with this batch: without the kernels `refused`, nothing is checked.
    bool isChecked = false;
};

} // namespace qs
