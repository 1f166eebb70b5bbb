// SPDX-License-Identifier: Apache-2.0
#include "app/commands/quantize.h"

#include "app/commands/command.h"
#include "app/commands/model/planned_model.h"
#include "app/commands/options/compared_options.h"
#include "app/commands/options/device_option.h"
#include "app/commands/text/console.h"
#include "engine/export/exporter.h"

#include <CLI/CLI.hpp>
#include <algorithm>

namespace qs {

namespace {

Result<void> checkForms(const std::vector<std::string>& forms)
{
    const auto known = exportForms();
    for (const auto& form : forms)
        if (std::find(known.begin(), known.end(), form) == known.end())
            return fail(ErrorCode::Usage,
                        "unknown export '" + form + "'; there are " + joined(known));
    return {};
}

} // namespace

void addQuantizeCommand(CLI::App& app, Command& chosen)
{
    auto options = std::make_shared<QuantizeOptions>();
    CLI::App* verb
        = app.add_subcommand("quantize", "Calibrates, converts, compares and exports a model");
    verb->add_option("MODEL", options->model, "a .pt2, a TorchScript .pt or a project")->required();
    addMovedOption(*verb, options->movedTo);
    addEditOptions(*verb, options->edits);
    verb->add_option("--recipe", options->recipe, "the decisions; without one backend x86's own");
    addHybridOption(*verb, options->hybrid);
    verb->add_option("--data", options->data,
                     "calibration data: a .npz, a .pt of torch.save, a folder of images, .tar "
                     "shards, or 'sample'; a project "
                     "has its own");
    verb->add_option("--compare-on", options->compareOn,
                     "data to measure the loss on, all of it; without one a project's own, else "
                     "the batches of the calibration");
    addDeviceOption(*verb, options->device);
    addAgainstOption(*verb, options->against);
    addLocalTermsOption(*verb, options->localTerms);
    CLI::Option* forms
        = verb->add_option("--export", options->forms,
                           "forms to write, separated by commas: pt2, onnx, torchscript (default: "
                           "those of these that can hold the model), pt2-reference; 'none': no "
                           "exports")
              ->delimiter(',');
    verb->add_option("--onnx-opset", options->onnxOpset,
                     "operator set of the export onnx (" + std::to_string(kOnnxOpset)
                         + "); 16-bit integers need 21")
        ->check(CLI::Range(kOldestOnnxOpset, kNewestOnnxOpset));
    verb->add_option("--target", options->onnxTarget,
                     "the runtime that the export onnx is for: generic (what every runtime "
                     "computes alike), ort-cpu (integer kernels of ONNX Runtime), tensorrt; 'plan "
                     "--export onnx' lists the kernels to expect there")
        ->check(CLI::IsMember(onnxTargetNames()));
    verb->add_option("--saturate", options->saturate,
                     "where the integers of the exports pt2 and onnx are cut: at the ends of their "
                     "type (as torch.ao's reference form, the default), or of the observer's own "
                     "range (as PT2E), 127 with seven bits")
        ->check(CLI::IsMember({kAtType, kAtObserver}));
    verb->add_option("--out", options->out, "the folder for the results")->required();
    verb->add_flag("--strict", options->strict,
                   "fail on a rule that matched nothing, a dropped qconfig or an unobserved edge");
    verb->add_option("--eval", options->eval,
                     "a command that gets outputs as an .npz and prints one number; run on the "
                     "float and the int8 outputs (an output whose size changes from batch to "
                     "batch is one array a batch: NAME.0, NAME.1)");
    verb->add_flag("--alternatives", options->alternatives,
                   "result.json lists for every observed value and weight the errors of "
                   "other observers, widths and schemes, without a run of each");
    verb->add_flag(
        "--why", options->why,
        "also measures which quantizers cause the noise of the outputs, as 'why' does, and "
        "writes it into result.json; costs several runs of some samples");
    verb->add_flag(
        "--timing", options->timing,
        "reports on stderr where the time went: stages, the slowest operators of the float model "
        "and of the lowered form, bytes; with --json also under the key timing");
    verb->add_flag("--json", options->json, "prints the result document on stdout");
    verb->callback([options, forms, &chosen] {
        chosen = [options, given = forms->count() > 0](const CommandRun& job) -> Result<void> {
            options->formsChosen = given;
            if (options->forms == std::vector<std::string> {"none"})
                options->forms.clear();
            QS_CHECK(checkForms(options->forms));
            return runQuantize(*options, job);
        };
    });
}

} // namespace qs
