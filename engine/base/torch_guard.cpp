// SPDX-License-Identifier: Apache-2.0
#include "engine/base/torch_guard.h"

#include <c10/core/GradMode.h>
#include <c10/util/Exception.h>

#include <exception>
#include <new>

namespace qs {

namespace {

std::string firstLine(const std::string& text)
{
    return text.substr(0, text.find('\n'));
}

} // namespace

Result<void> guardTorch(const std::function<Result<void>()>& body)
{
    try {
        return body();
    } catch (const c10::OutOfMemoryError& e) {
        return fail(makeError(ErrorCode::Device, firstLine(e.what_without_backtrace()))
                        .withHint("use a smaller batch_size or the CPU"));
    } catch (const c10::Error& e) {
        const std::string text = firstLine(e.what_without_backtrace());
        const bool device = text.find("CUDA") != std::string::npos;
        return fail(device ? ErrorCode::Device : ErrorCode::BadInput, text);
    } catch (const std::bad_alloc&) {
        return fail(
            makeError(ErrorCode::Device, "out of memory").withHint("use a smaller batch_size"));
    } catch (const std::exception& e) {
        return fail(ErrorCode::Internal, firstLine(e.what()));
    }
}

struct InferenceScope::State
{
    c10::NoGradGuard noGrad;
};

InferenceScope::InferenceScope()
    : m_state(new State)
{
}

InferenceScope::~InferenceScope()
{
    delete m_state;
}

} // namespace qs
