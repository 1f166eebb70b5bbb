// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/key.h"
#include "engine/blame/blame.h"

namespace qs {

/// Key of a blame over the data of that comparison.
Key blameKey(const Key& comparison, const BlameOptions& options);
/// Key of its diagnosis; `eightBitsHold`: the processor's kernels take eight bits.
Key diagnosisKey(const Key& comparison, const BlameOptions& options, bool eightBitsHold);

} // namespace qs
