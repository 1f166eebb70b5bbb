// SPDX-License-Identifier: Apache-2.0
#include "app/commands/command.h"
#include "app/commands/text/console.h"
#include "app/description/command_tree.h"
#include "engine/export/exporter.h"
#include "engine/verify/runtimes.h"

#include <CLI/CLI.hpp>

namespace qs {

namespace {

constexpr auto kManPage = "man";
constexpr auto kRuntimes = "runtimes";

/// Returns Markdown for the page of `verify`: each runtime with its file, its requirements, and the
/// command that installs them.
std::string runtimesPage()
{
    std::string text = "| Runtime | File | Needs in Python | of Debian | Computes | `--speed` |\n"
                       "| --- | --- | --- | --- | --- | --- |\n";
    std::string others;
    for (const Runtime& runtime : runtimes()) {
        const std::string name(runtime.name);
        text += "| `" + name + "` | `" + exportFile(std::string(runtime.form)) + "` | `"
            + pipWords(runtime.packages) + "` | "
            + (runtime.tools.empty() ? "" : "`" + std::string(runtime.tools) + "`") + " | "
            + (runtime.isExact ? "operator by operator" : "fused") + " | "
            + (runtime.timesOperators ? "yes" : "no") + " |\n";
        if (!runtime.isInSetup)
            others += (others.empty() ? "" : ", ") + ("`" + name + "`");
    }
    return text + "\nThis makes a Python that has its packages, except for " + others
        + ". It works where Debian's own Python takes no packages:\n\n```sh norun\n"
        + pythonSetup(true) + "\n```\n";
}

std::string describedAs(const std::string& form, const CLI::App& app)
{
    if (form == kRuntimes)
        return runtimesPage();
    const DescribedCommand program = describedCommand(app);
    return form == kManPage ? manPage(program, QUANTSCOPE_VERSION) : shellCompletion(program, form);
}

} // namespace

void addDescribeCommand(CLI::App& app, Command& chosen)
{
    auto form = std::make_shared<std::string>();
    std::vector<std::string> forms = completedShells();
    forms.insert(forms.end(), {kManPage, kRuntimes});
    CLI::App* verb
        = app.add_subcommand("describe",
                             "Prints this command line as a man page or as a shell completion; or, "
                             "in Markdown, the runtimes that 'verify' knows");
    verb->add_option("FORM", *form, "what to print: " + joined(forms))
        ->required()
        ->check(CLI::IsMember(forms));
    verb->callback([form, &app, &chosen] {
        chosen = [form, &app](const CommandRun&) { return printOut(describedAs(*form, app)); };
    });
}

} // namespace qs
