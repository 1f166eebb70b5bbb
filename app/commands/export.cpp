// SPDX-License-Identifier: Apache-2.0
#include "app/commands/become.h"
#include "app/commands/command.h"
#include "engine/configure/resource_folder.h"
#include "engine/verify/python_run.h"

#include <CLI/CLI.hpp>
#include <cstdlib>

namespace qs {

namespace {

/// Arguments of the export helper, passed unchanged; the helper checks them.
struct FactoryOptions
{
    std::string factory, python, data, output, samples, testSamples, draftSeconds;
    std::vector<std::string> args, inputs;
    bool dynamicBatch = false, fixedBatch = false, train = false;
};

/// Returns the Python that can import the model: the given one, else that of the active
/// environment, else the one that runs exports.
Result<std::string> pythonOfModel(const std::string& asked)
{
    const char* environment = std::getenv("VIRTUAL_ENV");
    if (asked.empty() && environment && *environment)
        return std::string(environment) + "/bin/python";
    return pythonFor(asked);
}

Result<void> runExport(const FactoryOptions& options)
{
    QS_TRY(const std::string python, pythonOfModel(options.python));
    std::vector<std::string> words {
        python, (resourceFolder() / "export" / "quantscope_export.py").string(), options.factory};
    const auto add = [&](const char* name, const std::string& word) {
        if (!word.empty())
            words.insert(words.end(), {name, word});
    };
    add("--data", options.data);
    add("--samples", options.samples);
    add("--test-samples", options.testSamples);
    add("--output", options.output);
    add("--draft-seconds", options.draftSeconds);
    for (const std::string& input : options.inputs)
        add("--input", input);
    for (const auto& [flag, isOn] :
         {std::pair("--dynamic-batch", options.dynamicBatch),
          std::pair("--fixed-batch", options.fixedBatch), std::pair("--train", options.train)})
        if (isOn)
            words.emplace_back(flag);
    if (!options.args.empty()) {
        words.emplace_back("--args");
        words.insert(words.end(), options.args.begin(), options.args.end());
    }
    auto started = become(std::move(words));
    return fail(
        std::move(started.error()).withHint("give --python the Python that holds the model"));
}

} // namespace

void addExportCommand(CLI::App& app, Command& chosen)
{
    auto options = std::make_shared<FactoryOptions>();
    CLI::App* verb = app.add_subcommand(
        "export",
        "Makes the .pt2 of a model's Python class or factory, in the Python that holds it");
    verb->add_option("FACTORY", options->factory,
                     "model.py:Net or package.module:make: a model's class, or a function that "
                     "returns the model, alone or with example arguments")
        ->required();
    verb->add_option("--input", options->inputs,
                     "an example input of a model that comes without: 1x3x224x224, "
                     "1x128:int64:30522 (integers below that); once an input")
        ->allow_extra_args(false)
        ->type_name("SIZES");
    verb->add_option("--data", options->data,
                     "data.py:loader: a function that returns batches or samples: inputs, inputs "
                     "and a label, or a dict");
    verb->add_option("--samples", options->samples,
                     "write the first N of --data beside the model, as NAME.calib.npz")
        ->type_name("N");
    verb->add_option("--test-samples", options->testSamples,
                     "write the N after those, to measure on, as NAME.test.npz")
        ->type_name("N");
    verb->add_option("-o,--output", options->output, "the file to write; default: model.pt2");
    verb->add_flag("--fixed-batch", options->fixedBatch,
                   "keep the example's batch size; default: left open where the model allows");
    verb->add_flag("--dynamic-batch", options->dynamicBatch,
                   "fail where the batch size cannot be left open");
    verb->add_flag("--train", options->train,
                   "export a model in training mode; default: evaluation mode");
    verb->add_option("--args", options->args,
                     "what FACTORY is called with: Python literals, NAME=VALUE")
        ->type_name("VALUE ...");
    verb->add_option("--draft-seconds", options->draftSeconds,
                     "how long draft_export may take; default: 120")
        ->type_name("SECONDS");
    verb->add_option("--python", options->python,
                     "the Python that contains the model; default: that of the active environment, "
                     "else the one that 'verify' uses");
    verb->callback([options, &chosen] {
        chosen = [options](const CommandRun&) { return runExport(*options); };
    });
}

} // namespace qs
