// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/verify/verifier.h"

namespace qs {

/// Adds to a certificate what must not pass unseen. Where all runtimes were asked for: each file
/// that is as it was written and that none executed (`NotVerified`). Where runtimes were named:
/// each that the result has no export for (`Failed`).
void addUnverified(Certificate& certificate, const VerifyRequest& request);

} // namespace qs
