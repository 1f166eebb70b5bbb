// SPDX-License-Identifier: Apache-2.0
#include "app/commands/command.h"
#include "app/commands/text/console.h"
#include "app/description/command_tree.h"

#include <CLI/CLI.hpp>

namespace qs {

namespace {

constexpr auto kManPage = "man";

std::string describedAs(const std::string& form, const CLI::App& app)
{
    const DescribedCommand program = describedCommand(app);
    return form == kManPage ? manPage(program, QUANTSCOPE_VERSION) : shellCompletion(program, form);
}

} // namespace

void addDescribeCommand(CLI::App& app, Command& chosen)
{
    auto form = std::make_shared<std::string>();
    std::vector<std::string> forms = completedShells();
    forms.emplace_back(kManPage);
    CLI::App* verb = app.add_subcommand(
        "describe", "Prints this command line as a man page, or as what completes it in a shell");
    verb->add_option("FORM", *form, "what to print: " + joined(forms))
        ->required()
        ->check(CLI::IsMember(forms));
    verb->callback([form, &app, &chosen] {
        chosen = [form, &app](const JobContext&) { return printOut(describedAs(*form, app)); };
    });
}

} // namespace qs
