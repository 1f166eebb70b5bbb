// SPDX-License-Identifier: Apache-2.0
#include "app/commands/command.h"
#include "app/commands/text/console.h"
#include "engine/extensions/load_pack.h"
#include "engine/extensions/pack_report.h"

#include <CLI/CLI.hpp>

namespace qs {

void addExtensionsCommand(CLI::App& app, Command& chosen)
{
    struct Options
    {
        std::string action, folder;
        bool json = false;
    };
    auto options = std::make_shared<Options>();
    CLI::App* verb
        = app.add_subcommand("extensions", "Loads an extension pack and lists its content");
    verb->add_option("ACTION", options->action, "check DIR")
        ->check(CLI::IsMember({"check"}))
        ->required();
    verb->add_option("DIR", options->folder, "the pack's folder; its code runs in this program")
        ->required();
    verb->add_flag("--json", options->json, "one JSON document on stdout");
    verb->callback([options, &chosen] {
        chosen = [options](const CommandRun& job) -> Result<void> {
            QS_TRY(const ExtensionPackPtr pack, loadPack(options->folder, job));
            return printOut(options->json ? packJson(*pack) : packText(*pack));
        };
    });
}

} // namespace qs
