// SPDX-License-Identifier: Apache-2.0
#include "app/commands/command.h"
#include "app/commands/text/console.h"
#include "engine/base/json/nearest_name.h"
#include "engine/configure/keys/key_table.h"

#include <CLI/CLI.hpp>

namespace qs {

namespace {

struct KeysOptions
{
    std::string document, key;
    bool page = false;
};

Result<void> runKeys(const KeysOptions& options)
{
    if (options.page)
        return printOut(keyPage(options.document));
    const std::string text = keyText(options.document, options.key);
    if (!text.empty())
        return printOut(text);
    std::vector<std::string> known;
    for (const KeyTable& table : keyTables(options.document))
        for (std::string& key : table.keys())
            known.push_back(std::move(key));
    return fail(makeError(ErrorCode::BadInput,
                          "'" + options.key + "' is not a key of a " + options.document)
                    .withHint(suggestName(options.key, known)));
}

} // namespace

void addKeysCommand(CLI::App& app, Command& chosen)
{
    auto options = std::make_shared<KeysOptions>();
    CLI::App* verb
        = app.add_subcommand("keys",
                             "Explains the keys of a recipe, a backend file or a lowering row: "
                             "type, default, example, torch.ao's spelling");
    verb->add_option("DOCUMENT", options->document, "recipe, backend or lowering")
        ->required()
        ->check(CLI::IsMember(keyDocuments()));
    verb->add_option("KEY", options->key, "only this key");
    verb->add_flag("--page", options->page, "as the page of the guide, in Markdown");
    verb->callback([options, &chosen] {
        chosen = [options](const CommandRun&) { return runKeys(*options); };
    });
}

} // namespace qs
