// SPDX-License-Identifier: Apache-2.0
#include "app/commands/options/outside_option.h"

#include "app/commands/options/model_verbs.h"
#include "app/commands/text/console.h"

#include <CLI/CLI.hpp>

namespace qs {

void addOutsideOption(CLI::App& app, bool& given)
{
    for (const char* verb : kModelVerbs)
        app.get_subcommand(verb)->add_flag(
            "--outside", given, "allow the recipe or project to read files outside its folder");
}

Result<void> checkOutside(const std::string& file, std::vector<std::string> outside,
                          const CommandRun& job)
{
    outside = unconfirmedPaths(file, std::move(outside));
    if (job.readsOutside() || outside.empty())
        return {};
    return fail(
        makeError(ErrorCode::BadInput, "it names files outside its folder: " + joined(outside))
            .inFile(file)
            .withHint("give --outside if you trust it; the window asks once"));
}

} // namespace qs
