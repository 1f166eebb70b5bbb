// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/configure/json/json_reader.h"
#include "engine/configure/observer_spec.h"

namespace qs {

/// Does an observer of this kind keep a range for each channel?
bool isChannelKind(ObserverKind kind);

/// Whether the values of an observer's keys make sense, each and together; `place` is the
/// observer's in its file, for the error.
Result<void> checkObserver(const JsonPlace& place, const ObserverSpec& spec);

} // namespace qs
