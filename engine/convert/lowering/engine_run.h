// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/memory/freed_memory.h"
#include "engine/base/torch_guard.h"
#include "engine/convert/lowering/quantized_engine.h"

namespace qs {

/// Runs `body` on converted models, without autograd and under the torch guard. First selects their
/// quantized engine, which another conversion may have changed. Returns freed memory to the system
/// at the end.
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
