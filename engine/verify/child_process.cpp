// SPDX-License-Identifier: Apache-2.0
#include "engine/verify/child_process.h"

#include "engine/base/process/system.h"

#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace qs {

namespace {

/// Start attributes of a child: a new process group, no blocked signals, output to a file.
class Start
{
public:
    Start(const std::string& outputFile, ChildErrors errors)
    {
        posix_spawn_file_actions_init(&m_files);
        posix_spawn_file_actions_addopen(&m_files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
        posix_spawn_file_actions_addopen(&m_files, STDOUT_FILENO, outputFile.c_str(),
                                         O_WRONLY | O_CREAT | O_TRUNC, 0600);
        if (errors == ChildErrors::InTheFile)
            posix_spawn_file_actions_adddup2(&m_files, STDOUT_FILENO, STDERR_FILENO);
        posix_spawnattr_init(&m_attributes);
        sigset_t none;
        sigemptyset(&none);
        posix_spawnattr_setsigmask(&m_attributes, &none);
        posix_spawnattr_setpgroup(&m_attributes, 0);
        posix_spawnattr_setflags(&m_attributes,
                                 short(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP));
    }
    ~Start()
    {
        posix_spawn_file_actions_destroy(&m_files);
        posix_spawnattr_destroy(&m_attributes);
    }
    Start(const Start&) = delete;
    Start& operator=(const Start&) = delete;

    int run(pid_t& child, const std::vector<std::string>& command) const
    {
        std::vector<char*> words;
        for (const std::string& word : command)
            words.push_back(const_cast<char*>(word.c_str())); // posix_spawnp does not change it
        words.push_back(nullptr);
        return posix_spawnp(&child, words.front(), &m_files, &m_attributes, words.data(), environ);
    }

private:
    posix_spawn_file_actions_t m_files {};
    posix_spawnattr_t m_attributes {};
};

} // namespace

Result<int> runChild(const std::vector<std::string>& command, const std::string& outputFile,
                     const JobContext& job, ChildErrors errors, const std::function<void()>& each)
{
    pid_t child = 0;
    if (const int code = Start(outputFile, errors).run(child, command))
        return fail(makeError(ErrorCode::Io, "cannot be started: " + systemMessage(code))
                        .inFile(command.front()));
    int status = 0;
    while (waitpid(child, &status, WNOHANG) == 0) {
        if (job.cancelled()) {
            kill(-child, SIGKILL);
            waitpid(child, &status, 0);
            return fail(ErrorCode::Cancelled, "cancelled");
        }
        if (each)
            each();
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

} // namespace qs
