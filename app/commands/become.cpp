// SPDX-License-Identifier: Apache-2.0
#include "app/commands/become.h"

#include "engine/base/process/system.h"
#include "engine/base/process/try_apart.h"

#include <cerrno>
#include <csignal>
#include <unistd.h>

namespace qs {

Result<void> become(std::vector<std::string> words)
{
    std::vector<char*> given; // execvp takes writable strings
    for (std::string& word : words)
        given.push_back(word.data());
    given.push_back(nullptr);
    stopTrials(); // the new program would not wait for that child process
    sigset_t none; // blocked signals are inherited
    sigemptyset(&none);
    pthread_sigmask(SIG_SETMASK, &none, nullptr);
    execvp(given.front(), given.data());
    return fail(
        makeError(ErrorCode::Io, "cannot start: " + systemMessage(errno)).inFile(words.front()));
}

} // namespace qs
