// SPDX-License-Identifier: Apache-2.0
// Of every Qt Test program: what the programs do first in `main`.
#include "engine/base/process/try_apart.h"

namespace {

[[maybe_unused]] const bool kStarted = (qs::startTrials(), true);

} // namespace
