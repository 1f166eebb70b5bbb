// SPDX-License-Identifier: Apache-2.0
#include "engine/base/torch_guard.h"

#include "engine/base/autograd/gradient_scope.h"
#include "engine/base/log.h"
#include "engine/base/memory/memory_budget.h"
#include "engine/base/plain_cause.h"

#include <c10/core/GradMode.h>
#include <c10/util/Exception.h>

#include <cstdlib>
#include <exception>
#include <mutex>
#include <new>
#include <optional>
#include <set>
#include <utility>

namespace qs {

namespace {

/// Logs LibTorch's warnings as notes, without duplicates. Skips deprecation warnings, which do not
/// concern the user.
class NotedWarnings : public c10::WarningHandler
{
public:
    void process(const c10::Warning& warning) override
    {
        const std::string text = plainCause(warning.msg());
        {
            std::lock_guard lock(m_mutex);
            if (!m_told.insert(text).second)
                return;
        }
        const bool matters = !std::holds_alternative<c10::DeprecationWarning>(warning.type());
        log(matters ? LogLevel::Note : LogLevel::Debug, "PyTorch: " + text);
    }

private:
    std::mutex m_mutex;
    std::set<std::string> m_told;
};

c10::WarningHandler* notedWarnings()
{
    static NotedWarnings handler;
    return &handler;
}

/// Recognizes the message of LibTorch's allocator if the system refuses memory:
/// "DefaultCPUAllocator: can't allocate memory: you tried to allocate 80000000000 bytes".
std::optional<Error> refusedBySystem(const std::string& text)
{
    constexpr std::string_view kAllocator = "DefaultCPUAllocator", kTried = "tried to allocate ";
    if (text.find(kAllocator) == std::string::npos)
        return std::nullopt;
    const auto tried = text.find(kTried);
    const std::int64_t bytes = tried == std::string::npos
        ? 0
        : std::strtoll(text.c_str() + tried + kTried.size(), nullptr, 10);
    const std::string asked = bytes > 0 ? ": " + memoryText(bytes) + " could not be allocated" : "";
    return makeError(ErrorCode::Device, std::string(kOutOfMemory) + asked).withHint(memoryHint());
}

/// True if a GradientScope is open on this thread.
thread_local bool t_gradientScope = false;

} // namespace

Result<void> guardTorch(const std::function<Result<void>()>& body)
{
    const c10::WarningUtils::WarningHandlerGuard warnings(notedWarnings()); // for this thread
    try {
        return body();
    } catch (const c10::OutOfMemoryError& e) {
        const std::string text = plainCause(e.what_without_backtrace());
        return fail(makeError(ErrorCode::Device, text)
                        .withHint(text.starts_with(kOutOfMemory)
                                      ? memoryHint()
                                      : "use a smaller batch_size or the CPU"));
    } catch (const c10::Error& e) {
        if (auto refused = refusedBySystem(e.what_without_backtrace()))
            return fail(*std::move(refused));
        const std::string text = plainCause(e.what_without_backtrace());
        const bool device = text.find("CUDA") != std::string::npos;
        return fail(device ? ErrorCode::Device : ErrorCode::BadInput, text);
    } catch (const std::bad_alloc&) {
        return fail(makeError(ErrorCode::Device, std::string(kOutOfMemory)).withHint(memoryHint()));
    } catch (const std::exception& e) {
        return fail(ErrorCode::Internal, plainCause(e.what()));
    } catch (...) { // operators of packs may throw any type
        return fail(ErrorCode::Internal, "it threw an object that is not an exception");
    }
}

struct InferenceScope::State
{
    std::optional<c10::NoGradGuard> noGrad;
};

InferenceScope::InferenceScope()
    : m_state(new State)
{
    if (!t_gradientScope)
        m_state->noGrad.emplace();
}

InferenceScope::~InferenceScope()
{
    delete m_state;
}

GradientScope::GradientScope()
    : m_wasOpen(std::exchange(t_gradientScope, true))
    , m_recorded(c10::GradMode::is_enabled())
{
    c10::GradMode::set_enabled(true);
}

GradientScope::~GradientScope()
{
    c10::GradMode::set_enabled(m_recorded);
    t_gradientScope = m_wasOpen;
}

} // namespace qs
