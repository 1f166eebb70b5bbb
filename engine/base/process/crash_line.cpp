// SPDX-License-Identifier: Apache-2.0
#include "engine/base/process/crash_line.h"

#include <atomic>
#include <csignal>
#include <cstring>
#include <unistd.h>

namespace qs {

namespace {

thread_local const CrashPlace* innermost = nullptr; ///< innermost place of this thread
/// The latest place of all threads; places remove themselves, so none is dangling.
std::atomic<const CrashPlace*> latest = nullptr;

void put(const char* text)
{
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text, std::strlen(text));
}

} // namespace

CrashPlace::CrashPlace(const char* node, const char* target)
    : m_node(node)
    , m_target(target)
    , m_outer(innermost)
{
    innermost = this;
    latest = this;
}

CrashPlace::~CrashPlace()
{
    innermost = m_outer;
    const CrashPlace* self = this;
    latest.compare_exchange_strong(self, m_outer);
}

/// Signal handler; uses only async-signal-safe functions.
void crashed(int number)
{
    put("quantscope: the program crashed");
    if (const CrashPlace* place = latest) {
        put(" in node '");
        put(place->m_node);
        put("' (");
        put(place->m_target);
        put("): avoid this operator, or fix its extension pack");
    }
    put("\n");
    std::raise(number); // with the default action, restored by SA_RESETHAND
}

void tellCrashes()
{
#ifndef __SANITIZE_ADDRESS__ // AddressSanitizer reports more itself
    struct sigaction action = {};
    action.sa_handler = crashed;
    action.sa_flags = SA_RESETHAND | SA_NODEFER;
    for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL})
        sigaction(number, &action, nullptr);
#endif
}

} // namespace qs
