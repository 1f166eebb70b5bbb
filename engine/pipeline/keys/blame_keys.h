// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/key.h"
#include "engine/blame/blame.h"

namespace qs {

/// Of a blame over the data of that comparison.
Key blameKey(const Key& comparison, const BlameOptions& options);
/// Of its diagnosis on a processor whose kernels take eight bits, or do not.
Key diagnosisKey(const Key& comparison, const BlameOptions& options, bool eightBitsHold);

} // namespace qs
