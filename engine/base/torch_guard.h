// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"

#include <functional>

namespace qs {

/// Runs `body`; converts exceptions of LibTorch or CUDA to an Error (first line of the message, no
/// C++ backtrace), and their warnings to log notes, without duplicates. Only this function catches
/// c10::Error.
Result<void> guardTorch(const std::function<Result<void>()>& body);

/// The same for a body that returns a value.
template<class T, class Body>
Result<T> guardTorchValue(Body&& body)
{
    Result<T> out = fail(ErrorCode::Internal, "not run");
    auto done = guardTorch([&]() -> Result<void> {
        out = body();
        return {};
    });
    if (!done)
        return fail(std::move(done).error());
    return out;
}

/// Sets up a thread for inference: no autograd, the given number of intra-op threads (0 = default).
/// Construct at the start of every engine function that runs operators. Per thread; the destructor
/// restores the previous state.
class InferenceScope
{
public:
    InferenceScope();
    ~InferenceScope();
    InferenceScope(const InferenceScope&) = delete;
    InferenceScope& operator=(const InferenceScope&) = delete;

private:
    struct State;
    State* m_state;
};

} // namespace qs
