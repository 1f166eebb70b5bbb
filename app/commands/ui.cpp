// SPDX-License-Identifier: Apache-2.0
#include "app/commands/command.h"
#include "engine/base/process/system.h"

#include <CLI/CLI.hpp>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <unistd.h>

namespace qs {

namespace {

/// Becomes the window's program, which lies beside this one; returns only where that fails.
Result<void> runUi(const std::string& file)
{
    std::error_code code;
    const auto own = std::filesystem::read_symlink("/proc/self/exe", code);
    const std::string program = (own.parent_path() / "quantscope-ui").string();
    if (!std::filesystem::exists(program))
        return fail(makeError(ErrorCode::NotFound, "the window's program is not there")
                        .inFile(program)
                        .withHint("build with -DQUANTSCOPE_UI=ON"));
    std::vector<char*> words {const_cast<char*>(program.c_str())}; // execv wants them writable
    if (!file.empty())
        words.push_back(const_cast<char*>(file.c_str()));
    words.push_back(nullptr);
    sigset_t none; // the window takes its signals itself; blocked ones would stay so
    sigemptyset(&none);
    pthread_sigmask(SIG_SETMASK, &none, nullptr);
    execv(program.c_str(), words.data());
    return fail(makeError(ErrorCode::Io, "cannot start: " + systemMessage(errno)).inFile(program));
}

} // namespace

void addUiCommand(CLI::App& app, Command& chosen)
{
    auto file = std::make_shared<std::string>();
    CLI::App* verb = app.add_subcommand("ui", "Opens the window");
    verb->add_option("FILE", *file, "a model or a project");
    verb->callback(
        [file, &chosen] { chosen = [file](const JobContext&) { return runUi(*file); }; });
}

} // namespace qs
