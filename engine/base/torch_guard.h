// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/result.h"

#include <functional>

namespace qs {

/// Runs `body` and turns exceptions of LibTorch or CUDA into an Error (first line of the message,
/// no C++ backtrace), and their warnings into notes of the log, each text once. The only place that
/// catches c10::Error.
Result<void> guardTorch(const std::function<Result<void>()>& body);

/// The same for a body with a value.
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

/// Sets a worker thread up for inference: no autograd, the given number of intra-op threads (0
/// leaves the default). Construct at the top of every engine entry that runs operators; per thread,
/// restores on destruction.
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
