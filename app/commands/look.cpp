// SPDX-License-Identifier: Apache-2.0
#include "app/commands/command.h"
#include "app/commands/model/restored_result.h"
#include "app/commands/options/compared_options.h"
#include "app/commands/options/device_option.h"
#include "app/commands/options/number_checks.h"
#include "app/commands/text/console.h"
#include "app/commands/text/inspection_text.h"
#include "engine/base/json/nearest_name.h"
#include "engine/graph/output_names.h"
#include "engine/io/npz.h"
#include "engine/pipeline/keys/content_keys.h"
#include "engine/plan/names/named_node.h"
#include "engine/values/inspection_json.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstring>
#include <limits>

namespace qs {

namespace {

constexpr int kLinesAround = 5;

struct LookOptions
{
    std::string model, result, data, node, output, npz, sources;
    std::string device = "auto";
    std::string against;
    std::int64_t sample = -1, part = 0, worst = 10;
    bool json = false;
};

Result<InspectionTarget> targetOf(const LookOptions& options, const Graph& model, const Plan& plan)
{
    if (!options.output.empty()) {
        const auto names = outputNames(model);
        const auto found = std::find(names.begin(), names.end(), options.output);
        if (found == names.end())
            return fail(makeError(ErrorCode::Usage, "there is no output '" + options.output + "'")
                            .withHint(suggestName(options.output, names)));
        return InspectionTarget {{}, std::size_t(found - names.begin())};
    }
    QS_TRY(const NodeId node, namedNode(model, plan, options.node));
    return InspectionTarget {node, {}};
}

NpyArray arrayOf(const std::string& name, const SampleValues& values,
                 const std::vector<float>& numbers)
{
    NpyArray array = npyFrom(name, numbers);
    array.shape = values.shape;
    return array;
}

Result<void> writeValues(const SampleValues& values, const std::string& path)
{
    std::vector<float> difference(values.floating.size());
    for (std::size_t i = 0; i < difference.size(); ++i)
        difference[i] = values.converted[i] - values.floating[i];
    return writeNpz({arrayOf("float", values, values.floating),
                     arrayOf("converted", values, values.converted),
                     arrayOf("difference", values, difference)},
                    path);
}

Result<void> runLook(const LookOptions& options, const CommandRun& job)
{
    StageChain chain;
    const RunSettings settings {
        options.data, {}, options.device, options.against == kAgainstOriginal};
    QS_TRY(const RestoredResult restored,
           restoreResult(chain, {options.result, options.model, settings}, job));
    const Graph& model = *restored.planned.model;
    QS_TRY(const InspectionTarget target, targetOf(options, model, *restored.planned.plan));
    const CompareRequest request {restored.calibration, restored.converted, restored.planned.recipe,
                                  settings, restored.edited};
    QS_TRY(const ValueInspectionPtr inspection, chain.inspect(request, target, job));
    InspectionParts parts;
    parts.model = &model;
    parts.inspection = inspection.get();
    parts.worst = std::size_t(options.worst);
    parts.againstOriginal = measuresOriginal(settings, model);
    SampleValuesPtr values;
    if (options.sample >= 0) {
        SampleWanted wanted {target, options.sample, {}, inspection->batchSamples};
        wanted.part.result = std::size_t(options.part);
        wanted.part.elements = std::numeric_limits<std::int64_t>::max();
        QS_TRY(values, chain.sampleValues(request, wanted, job));
        if (!options.npz.empty())
            QS_CHECK(writeValues(*values, options.npz));
    }
    parts.sample = values.get();
    const Node* node = target.output ? nullptr : model.tryFind(inspection->name);
    auto source = node ? sourceLines(node->source, options.sources, kLinesAround)
                       : Result<SourceExcerpt>(fail(ErrorCode::NotFound, ""));
    parts.source = source ? &*source : nullptr;
    return printOut(options.json ? inspectionJson(parts) : inspectionText(parts));
}

Result<void> checkOptions(const LookOptions& options)
{
    if (options.node.empty() == options.output.empty())
        return fail(ErrorCode::Usage, "give either --node or --output: the value to inspect");
    if (!options.npz.empty() && options.sample < 0)
        return fail(ErrorCode::Usage, "--npz needs --sample: whose values are written");
    return {};
}

} // namespace

void addLookCommand(CLI::App& app, Command& chosen)
{
    auto options = std::make_shared<LookOptions>();
    CLI::App* verb = app.add_subcommand(
        "look", "Shows one node's values: by channel, by sample, and those of one sample");
    verb->add_option("MODEL", options->model, "the model that the result was made from")
        ->required();
    verb->add_option("--result", options->result, "the folder, or its result.json")->required();
    verb->add_option("--data", options->data,
                     "a .npz, a .pt of torch.save, a folder of images, .tar shards, or 'sample'")
        ->required();
    verb->add_option("--node", options->node,
                     "a layer as 'compare' lists it, a module's path or a node's name");
    verb->add_option("--output", options->output, "in place of a node, an output of the model");
    verb->add_option("--sample", options->sample,
                     "of the data, from 0: the sample whose values are "
                     "listed")
        ->check(notNegativeNumber());
    verb->add_option("--part", options->part, "which of the node's results; 0 is the first")
        ->check(notNegativeNumber());
    verb->add_option("--worst", options->worst, "how many of the worst samples are listed")
        ->check(notNegativeNumber());
    verb->add_option("--npz", options->npz,
                     "writes the sample's values: float, converted and difference");
    verb->add_option("--sources", options->sources, "a folder with the model's Python files");
    addDeviceOption(*verb, options->device);
    addAgainstOption(*verb, options->against);
    verb->add_flag("--json", options->json, "one JSON document on stdout");
    verb->callback([options, &chosen] {
        chosen = [options](const CommandRun& job) -> Result<void> {
            QS_CHECK(checkOptions(*options));
            return withModelNotes(runLook(*options, job), options->model);
        };
    });
}

} // namespace qs
