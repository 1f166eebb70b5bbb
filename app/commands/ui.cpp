// SPDX-License-Identifier: Apache-2.0
#include "app/commands/become.h"
#include "app/commands/command.h"
#include "app/commands/options/extension_option.h"

#include <CLI/CLI.hpp>
#include <filesystem>

namespace qs {

namespace {

/// Replaces this process by the window's program, which is beside this one; returns only on
/// failure.
Result<void> runUi(const std::string& file, const std::vector<std::string>& packs)
{
    std::error_code code;
    const auto own = std::filesystem::read_symlink("/proc/self/exe", code);
    const std::string program = (own.parent_path() / "quantscope-ui").string();
    if (!std::filesystem::exists(program))
        return fail(
            makeError(ErrorCode::NotFound, "quantscope-ui is not installed beside quantscope")
                .inFile(program)
                .withHint("build with -DQUANTSCOPE_UI=ON"));
    std::vector<std::string> texts {program};
    for (const std::string& pack : packs)
        texts.insert(texts.end(), {"--extension", pack});
    if (!file.empty())
        texts.push_back(file);
    return become(std::move(texts));
}

} // namespace

void addUiCommand(CLI::App& app, Command& chosen)
{
    auto file = std::make_shared<std::string>();
    CLI::App* verb = app.add_subcommand("ui", "Opens the window");
    verb->add_option("FILE", *file, "a model or a project");
    auto packs = std::make_shared<std::vector<std::string>>();
    verb->add_option("--extension", *packs, kExtensionHelp)
        ->type_name("DIR")
        ->allow_extra_args(false); // the window loads them
    verb->callback([file, packs, &chosen] {
        chosen = [file, packs](const CommandRun&) { return runUi(*file, *packs); };
    });
}

} // namespace qs
