// SPDX-License-Identifier: Apache-2.0
// Libraries that misbehave while they are loaded, one by definition each.
#include <csignal>
#include <stdexcept>
#include <unistd.h>

extern "C" int noSuchFunctionOfAnyLibTorch();

namespace {

struct Constructed
{
    Constructed()
    {
#if defined(QS_THROWS)
        throw std::runtime_error("no licence was found");
#elif defined(QS_THROWS_NUMBER)
        throw 7;
#elif defined(QS_CRASHES)
        std::raise(SIGSEGV);
#elif defined(QS_EXITS)
        _exit(0);
#elif defined(QS_WAITS)
        for (;;)
            sleep(1000);
#elif defined(QS_LACKS)
        noSuchFunctionOfAnyLibTorch();
#endif
    }
} constructed;

} // namespace
