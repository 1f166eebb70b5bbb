// SPDX-License-Identifier: Apache-2.0
#include "app/commands/command.h"
#include "app/commands/text/console.h"
#include "engine/base/text.h"
#include "engine/configure/backend/backend_check.h"
#include "engine/configure/backend/entry_words.h"

#include <CLI/CLI.hpp>
#include <algorithm>

namespace qs {

namespace {

struct BackendsOptions
{
    std::string action = "list";
    std::string subject;
    bool json = false;
};

std::string patternText(const BackendPattern& entry)
{
    std::string text;
    for (const auto& name : entry.pattern)
        text += (text.empty() ? "" : " + ") + name;
    return text.empty() ? entry.complexFormat : text;
}

std::size_t fusionCount(const Backend& backend)
{
    return std::size_t(std::count_if(backend.patterns.begin(), backend.patterns.end(),
                                     [](const auto& entry) { return !entry.fuserMethod.empty(); }));
}

Result<void> listBackends()
{
    TextTable table({"backend", ">patterns", ">fusions", "presets", "description"});
    for (const auto& name : shippedBackends()) {
        QS_TRY(const Backend backend, findBackend(name));
        table.add({name, std::to_string(backend.patterns.size()),
                   std::to_string(fusionCount(backend)), backend.defaultQConfig,
                   backend.description});
    }
    return printOut(table.text()
                    + "\nA backend says which operators a target runs in int8, and with which "
                      "types. Choose one in the recipe\n(\"backend\": \"qnnpack\") or with 'plan "
                      "--backend'; 'backends show NAME' lists what it runs. 'presets' is the "
                      "qconfig\nthat a recipe without a mapping gets with it.\n");
}

Result<void> showBackend(const BackendsOptions& options)
{
    QS_TRY(const Backend backend, findBackend(options.subject));
    if (options.json)
        return printOut(backendToJson(backend));
    // Most entries share a few combinations of dtypes: list each combination once.
    std::vector<std::string> combinations;
    TextTable table({"pattern", "becomes", "types"});
    for (const auto& entry : backend.patterns) {
        std::string types;
        for (const auto& config : entry.dtypeConfigs) {
            const std::string text = dtypesWords(config);
            auto found = std::find(combinations.begin(), combinations.end(), text);
            if (found == combinations.end())
                found = combinations.insert(combinations.end(), text);
            types += (types.empty() ? "" : " ") + std::to_string(found - combinations.begin() + 1);
        }
        table.add({patternText(entry), useWords(entry), types});
    }
    std::string text = backend.name + ": " + backend.description + "\n"
        + counted(backend.patterns.size(), "pattern") + ", " + std::to_string(fusionCount(backend))
        + " of them fusions"
        + (backend.defaultQConfig.empty() ? "" : "; presets " + backend.defaultQConfig)
        + "\n\ntypes, input -> output:\n";
    for (std::size_t i = 0; i < combinations.size(); ++i)
        text += "  " + std::to_string(i + 1) + "  " + combinations[i] + "\n";
    return printOut(text + "\n" + table.text());
}

Result<void> checkFile(const BackendsOptions& options)
{
    QS_TRY(const Backend backend, findBackend(options.subject));
    const std::vector<BackendProblem> problems = checkBackend(backend);
    std::string text;
    std::size_t errors = 0;
    const BackendProblem* first = nullptr;
    for (const auto& problem : problems) {
        errors += problem.error;
        if (problem.error && !first)
            first = &problem;
        text += (problem.error ? "error: " : "warning: ") + problem.text + "\n";
    }
    const std::string head = options.subject + ": backend '" + backend.name + "', "
        + counted(backend.patterns.size(), "pattern") + ": ";
    if (problems.empty())
        return printOut(head + "good, nothing to report\n");
    QS_CHECK(printOut(head + counted(errors, "error") + ", "
                      + counted(problems.size() - errors, "warning") + "\n" + text));
    if (!first)
        return {};
    const std::string more
        = errors > 1 ? " (and " + counted(errors - 1, "more error") + ", listed above)" : "";
    return fail(makeError(ErrorCode::BadInput, first->text + more).inFile(options.subject));
}

Result<void> runBackends(const BackendsOptions& options)
{
    if (options.action == "list")
        return listBackends();
    if (options.subject.empty())
        return fail(ErrorCode::Usage,
                    options.action == "show" ? "'backends show' needs the name of a backend"
                                             : "'backends check' needs a file");
    return options.action == "show" ? showBackend(options) : checkFile(options);
}

} // namespace

void addBackendsCommand(CLI::App& app, Command& chosen)
{
    auto options = std::make_shared<BackendsOptions>();
    CLI::App* verb = app.add_subcommand("backends", "Lists, shows or checks backends");
    verb->add_option("ACTION", options->action, "list (default), show NAME or check FILE")
        ->check(CLI::IsMember({"list", "show", "check"}));
    verb->add_option("NAME", options->subject, "the backend's name, or its file");
    verb->add_flag("--json", options->json, "show: the backend as its JSON file");
    verb->callback([options, &chosen] {
        chosen = [options](const CommandRun&) { return runBackends(*options); };
    });
}

} // namespace qs
