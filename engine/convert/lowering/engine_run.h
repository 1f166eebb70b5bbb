// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/memory/freed_memory.h"
#include "engine/base/torch_guard.h"
#include "engine/convert/lowering/quantized_engine.h"

namespace qs {

/// Runs a body over converted models without autograd and under the torch guard, on their quantized
/// engine, which another conversion may have changed since. Returns freed memory at the end.
template<class T, class Body>
Result<T> runOnEngine(const std::string& engine, Body&& body)
{
    const InferenceScope inference;
    auto made = guardTorchValue<T>([&] {
        selectEngine(engine);
        return body();
    });
    returnFreedMemory();
    return made;
}

} // namespace qs
