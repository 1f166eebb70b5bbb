// SPDX-License-Identifier: Apache-2.0
// Linked into every Qt Test program: the initialization that the programs do first in `main`.
#include "engine/base/process/try_apart.h"

namespace {

[[maybe_unused]] const bool kStarted = (qs::startTrials(), true);

} // namespace
