// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/calibrate/observers/observer.h"

#include <memory>

namespace qs {

/// The observer of a spec's kind, having seen nothing.
std::unique_ptr<Observer> makeObserver(ObserverId id, const ObserverSpec& spec);

} // namespace qs
