// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/calibrate/observers/observer.h"

#include <memory>

namespace qs {

/// Creates an observer of the spec's kind.
std::unique_ptr<Observer> makeObserver(ObserverId id, const ObserverSpec& spec);

} // namespace qs
