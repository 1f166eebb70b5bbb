// SPDX-License-Identifier: Apache-2.0
#include "app/commands/options/extension_option.h"

#include "app/commands/options/model_verbs.h"
#include "engine/extensions/load_pack.h"

#include <CLI/CLI.hpp>

namespace qs {

void addExtensionOption(CLI::App& app, std::vector<std::string>& folders)
{
    std::vector<const char*> verbs(kModelVerbs.begin(), kModelVerbs.end());
    verbs.push_back("backends"); // its patterns may name a pack's operators
    for (const char* verb : verbs)
        app.get_subcommand(verb)
            ->add_option("--extension", folders, kExtensionHelp)
            ->type_name("DIR")
            ->allow_extra_args(false);
}

Result<void> loadExtensions(const std::vector<std::string>& folders, const JobContext& job)
{
    for (const std::string& folder : folders)
        QS_CHECK(loadPack(folder, job));
    return {};
}

} // namespace qs
