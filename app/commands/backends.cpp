// SPDX-License-Identifier: Apache-2.0
#include "app/commands/command.h"
#include "app/commands/console.h"
#include "engine/configure/backend_config.h"

#include <CLI/CLI.hpp>

namespace qs {

namespace {

struct BackendsOptions
{
    std::string action = "list";
    std::string subject;
    bool json = false;
};

const char* observationText(const BackendPattern& entry)
{
    if (entry.dtypeConfigs.empty())
        return "fusion only";
    switch (entry.observationType) {
    case ObservationType::OutputShareObserver:
        return "output shares the input's observer";
    case ObservationType::InputOutputNotObserved:
        return "not observed";
    default:
        return "output has its own observer";
    }
}

std::string dtypeText(const DTypeWithConstraints& dtype)
{
    return dtype.dtype ? std::string(dtypeName(*dtype.dtype)) : "any";
}

std::string dtypesText(const BackendPattern& entry)
{
    std::string text;
    for (const DTypeConfig& config : entry.dtypeConfigs)
        text += (text.empty() ? "" : ", ") + dtypeText(config.input) + " -> "
            + dtypeText(config.output) + (config.isDynamic ? " (dynamic)" : "");
    return text;
}

std::string patternText(const BackendPattern& entry)
{
    std::string text;
    for (const auto& name : entry.pattern)
        text += (text.empty() ? "" : " + ") + name;
    return text.empty() ? entry.complexFormat : text;
}

Result<void> listBackends()
{
    TextTable table({"backend", ">patterns", "description"});
    for (const auto& name : shippedBackends()) {
        QS_TRY(const Backend backend, findBackend(name));
        table.add({name, std::to_string(backend.patterns.size()), backend.description});
    }
    return printOut(table.text());
}

Result<void> showBackend(const BackendsOptions& options)
{
    QS_TRY(const Backend backend, findBackend(options.subject));
    if (options.json)
        return printOut(backendToJson(backend));
    TextTable table({"pattern", "observation", "dtypes (input -> output)"});
    for (const auto& entry : backend.patterns)
        table.add({patternText(entry), observationText(entry), dtypesText(entry)});
    return printOut(backend.name + ": " + backend.description + "\n\n" + table.text());
}

Result<void> checkBackend(const BackendsOptions& options)
{
    QS_TRY(const Backend backend, readBackend(options.subject));
    return printOut(options.subject + ": good, backend '" + backend.name + "' with "
                    + std::to_string(backend.patterns.size()) + " patterns\n");
}

Result<void> runBackends(const BackendsOptions& options)
{
    if (options.action == "list")
        return listBackends();
    if (options.subject.empty())
        return fail(ErrorCode::Usage,
                    options.action == "show" ? "'backends show' needs the name of a backend"
                                             : "'backends check' needs a file");
    return options.action == "show" ? showBackend(options) : checkBackend(options);
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
        chosen = [options](const JobContext&) { return runBackends(*options); };
    });
}

} // namespace qs
