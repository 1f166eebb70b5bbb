// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/calibrate/observations.h"

#include <string>

namespace qs {

/// An observer's statistics as bytes for another rank. Of the extremes by call only those from
/// index `from` on: the other rank has the ones before.
std::string packStats(const ObserverStats& stats, std::size_t from = 0);

/// Reads statistics. `into` has the id and the spec, and at least as many extremes by call as were
/// left out. Errors (Internal): damaged bytes.
Result<void> unpackStats(const std::string& bytes, ObserverStats& into);

} // namespace qs
