// SPDX-License-Identifier: Apache-2.0
#include "app/commands/command.h"
#include "app/commands/model/planned_model.h"
#include "app/commands/model/restored_result.h"
#include "app/commands/text/console.h"
#include "engine/base/log.h"
#include "engine/base/text.h"
#include "engine/convert/outline.h"
#include "engine/convert/ranges/stored_qparams.h"
#include "engine/export/documents/result_writer.h"
#include "engine/export/file_origin.h"
#include "engine/export/forms/code_forms.h"
#include "engine/graph/operators/class_parts.h"
#include "engine/graph/pass.h"
#include "engine/graph/text/graph_printer.h"
#include "engine/import/trace_report.h"
#include "engine/plan/block/prepare_settings.h"
#include "engine/result/stored_run.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>

namespace qs {

namespace {

struct InspectOptions
{
    std::string model, movedTo, recipe;
    AskedEdits edits;
    std::string form = "float";
    std::string after; ///< pass whose graph is printed
    std::vector<std::string> without; ///< passes to skip
    bool json = false;
    bool code = false;
    bool passes = false;

    bool watchesPasses() const { return passes || !after.empty(); }
};

/// Returns the number of elements of a value; 0 if its shape is not fixed.
double elementCount(const ValueType& type)
{
    if (type.kind != ValueKind::Tensor || !type.shapeKnown)
        return 0;
    double count = 1;
    for (const Dim& dim : type.shape)
        count *= dim.isSymbolic() ? 0 : double(dim.size);
    return count;
}

std::string summaryText(const Graph& model, const std::optional<ExportRecord>& record)
{
    int ops = 0, opaque = 0, stored = 0;
    double elements = 0, bytes = 0;
    for (const NodePtr& node : model.nodes()) {
        ops += node->isOperator();
        opaque += !node->opaqueReason.empty();
        if (!node->isStored())
            continue;
        ++stored;
        if (node->outputs.empty())
            continue;
        elements += elementCount(node->outputs[0].type);
        bytes += elementCount(node->outputs[0].type) * dtypeSize(node->outputs[0].type.dtype);
    }
    const ModelInfo& info = model.info();
    std::string text = "model    " + info.path + "  (" + info.format
        + (info.producer.empty() ? "" : ", " + info.producer)
        + (info.converted ? ", already quantized" : "") + ")\n";
    text += "sha256   " + info.sha256 + "\n";
    if (record)
        text += "origin   exported by quantscope " + record->program + " with torch "
            + record->torch + ", for the engine " + record->engine
            + (record->recipeSha256.empty() ? "" : ", by the recipe " + record->recipeSha256)
            + "\n";
    for (const Node* node : model.inputs())
        for (const Value& value : node->outputs)
            text += "input    " + value.name + "  " + value.type.text() + "\n";
    const Node& output = model.output();
    for (const auto& argument : output.args)
        forEachRef(argument.value, [&](ValueRef ref) {
            const Value& value = model.value(ref);
            text += "output   " + value.name + "  " + value.type.text() + "\n";
        });
    text += "graph    " + counted(ops, "operator") + ", " + counted(stored, "stored tensor") + " ("
        + fixedText(elements, 0) + " elements, " + bytesText(bytes) + ")";
    text += opaque ? ", " + counted(opaque, "opaque node") + "\n" : "\n";
    return text;
}

/// Lists the scopes that the recipe shows as one node.
std::string wrapText(const Graph& model, const Recipe& recipe)
{
    std::string text;
    for (const WrappedScope& wrap : wrapsOf(model, recipe))
        text += "wrapped  " + wrap.key + "  " + counted(wrap.glue.size(), "operator")
            + " as one node, " + counted(wrap.modules.size(), "module") + " inside it\n";
    return text;
}

std::string operatorText(const Graph& model)
{
    std::map<std::string, int> counts;
    for (const NodePtr& node : model.nodes())
        if (node->isOperator())
            ++counts[wholeTarget(node->target)];
    std::vector<std::pair<std::string, int>> sorted(counts.begin(), counts.end());
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const auto& a, const auto& b) { return a.second > b.second; });
    TextTable table({"operator", ">count"});
    for (const auto& [name, count] : sorted)
        table.add({name, std::to_string(count)});
    return table.text();
}

std::string moduleText(const Graph& model)
{
    std::map<std::string, int> opsOf;
    for (const NodePtr& node : model.nodes())
        if (node->isOperator())
            ++opsOf[node->scope.path];
    TextTable table({"module", "class", ">operators", ">tensors"});
    for (const ModuleEntry* entry : model.modules().inOrder()) {
        const auto depth
            = entry->path.empty() ? 0 : 1 + std::count(entry->path.begin(), entry->path.end(), '.');
        const auto dot = entry->path.rfind('.');
        const std::string leaf
            = dot == std::string::npos ? entry->path : entry->path.substr(dot + 1);
        table.add({std::string(std::size_t(2 * depth), ' ') + (leaf.empty() ? "(model)" : leaf),
                   entry->moduleClass, std::to_string(opsOf[entry->path]),
                   std::to_string(entry->parameters.size())});
    }
    return table.text();
}

std::string rangeText(const QParams& qparams)
{
    const auto [low, high] = std::minmax_element(qparams.scale.begin(), qparams.scale.end());
    std::string text = std::string(dtypeName(qparams.dtype)) + " "
        + std::to_string(qparams.quantMin) + ".." + std::to_string(qparams.quantMax) + ", scale "
        + numberText(*low);
    if (qparams.scale.size() > 1)
        return text + " to " + numberText(*high) + ", " + counted(qparams.scale.size(), "channel")
            + " on axis " + std::to_string(qparams.axis);
    return text + ", zero point " + std::to_string(qparams.zeroPoint.front());
}

/// Describes the quantization of an already quantized model.
std::string storedText(const Graph& model, const std::vector<StoredQParams>& stored)
{
    if (stored.empty())
        return {};
    TextTable table({"node", "operator", "output", "weight"});
    for (const StoredQParams& entry : stored) {
        const Node& node = model.get(entry.node);
        table.add({node.name, wholeTarget(node.target),
                   entry.output ? rangeText(*entry.output) : "-",
                   entry.weight ? rangeText(*entry.weight) : "-"});
    }
    return "\n" + table.text();
}

/// Lists the export helper's findings; branches that another module of the same class took are only
/// counted.
std::string traceText(const TraceReport& trace)
{
    std::string text = "trace    " + trace.path + "  ("
        + (trace.mode.empty()
               ? std::string("not exported")
               : "exported " + trace.mode + (trace.producer.empty() ? "" : ", " + trace.producer))
        + ")\n";
    int elsewhere = 0;
    for (const TraceFinding& finding : trace.findings) {
        if (finding.kind == TraceFinding::Kind::Untaken && finding.takenElsewhere) {
            ++elsewhere;
            continue;
        }
        std::string kind = traceKindName(finding.kind);
        kind.resize(9, ' ');
        std::string attempts;
        for (const std::string& attempt : finding.attempts)
            attempts += (attempts.empty() ? "" : ", ") + attempt;
        const std::string place = finding.place();
        text += kind + (finding.module.empty() ? "(model)" : finding.module)
            + (attempts.empty() ? "" : " [" + attempts + "]") + (place.empty() ? "" : ", " + place)
            + ": " + finding.what + (finding.hint.empty() ? "" : "; " + finding.hint) + "\n";
    }
    if (elsewhere)
        text += "untaken  " + counted(elsewhere, "more place")
            + " in some modules and not in others\n";
    return text;
}

/// Returns the source of a model, a project or a result.
Result<ModelSource> inspectedSource(const InspectOptions& options, const CommandRun& job)
{
    if (!isResult(options.model))
        return modelSource(options.model, options.recipe, options.movedTo, job, options.edits);
    if (!options.recipe.empty())
        return fail(makeError(ErrorCode::Usage, "a result has its own recipe")
                        .inFile(options.model)
                        .withHint("leave out --recipe, or name the model"));
    return sourceOfResult(options.model, options.movedTo, job);
}

/// Returns the float model to show.
Result<GraphPtr> shownModel(const InspectOptions& options, const EditedModel& edited)
{
    return isResult(options.model) ? floatModelOfResult(options.model, edited)
                                   : Result<GraphPtr>(edited.graph);
}

/// Returns a form of the model as code.
Result<std::vector<CodeLine>> codeOf(const InspectOptions& options, const CommandRun& job)
{
    const CodeForm form = *codeFormFromName(options.form);
    QS_TRY(const ModelSource source, inspectedSource(options, job));
    StageChain chain;
    if (form != CodeForm::Float && isResult(options.model)) {
        QS_TRY(const ConvertedPtr converted, convertedOfResult(chain, options.model, source, job));
        warnOfFormEdits(*converted, source.recipe, source.model);
        return convertedCode(*converted, form);
    }
    QS_TRY(const EditedModelPtr edited, openEdited(chain, source.model, source.recipe, job));
    QS_TRY(const GraphPtr model, shownModel(options, *edited));
    if (form == CodeForm::Float)
        return floatCode(*model);
    QS_TRY(const PlannedModel planned, planModel(chain, model, source.recipe, source.file, job));
    QS_TRY(const ConvertedPtr converted,
           outlineConversion(planned.model, planned.plan, planned.recipe, job));
    warnOfFormEdits(*converted, planned.recipe, source.model);
    return convertedCode(*converted, form);
}

/// Prints the passes of a form, or the graph after one of them.
Result<void> printPasses(const InspectOptions& options, const CommandRun& job)
{
    const PassWatch watch({options.without.begin(), options.without.end()}, options.after);
    QS_CHECK(codeOf(options, job));
    QS_CHECK(watch.check());
    if (!options.after.empty())
        return printOut(printGraph(*watch.graph()));
    TextTable table({"pass", ">nodes before", ">after", ">ms", ""});
    for (const PassRun& run : watch.runs())
        table.add({run.name, std::to_string(run.nodesBefore), std::to_string(run.nodesAfter),
                   fixedText(1000 * run.seconds, 1),
                   run.leftOut       ? "left out"
                       : run.changed ? ""
                                     : "as it was"});
    return printOut(table.text());
}

Result<void> printForm(const InspectOptions& options, const CommandRun& job)
{
    QS_TRY(const std::vector<CodeLine> lines, codeOf(options, job));
    std::string text;
    for (const CodeLine& line : lines)
        text += line.text + "\n";
    return printOut(text);
}

Result<void> runInspect(const InspectOptions& options, const CommandRun& job)
{
    if (options.watchesPasses())
        return printPasses(options, job);
    if (options.code)
        return printForm(options, job);
    QS_TRY(const ModelSource source, inspectedSource(options, job));
    const Recipe& recipe = source.recipe;
    StageChain chain;
    QS_TRY(const EditedModelPtr edited, openEdited(chain, source.model, recipe, job));
    QS_TRY(const GraphPtr model, shownModel(options, *edited));
    const auto trace = readTraceReport(source.model, model->info().sha256);
    const auto record = recordOfFile(source.model);
    for (const std::string& finding : originFindings(record))
        warn(source.model + ": " + finding);
    std::vector<StoredQParams> stored;
    if (model->info().converted) {
        QS_TRY(stored, storedQParams(*model));
    }
    if (options.json)
        return printOut(inspectJson(*model, trace ? &*trace : nullptr, &recipe, &stored, record));
    return printOut(summaryText(*model, record) + wrapText(*model, recipe)
                    + (trace ? "\n" + traceText(*trace) : "") + "\n" + moduleText(*model) + "\n"
                    + operatorText(*model) + storedText(*model, stored));
}

} // namespace

void addInspectCommand(CLI::App& app, Command& chosen)
{
    auto options = std::make_shared<InspectOptions>();
    CLI::App* verb = app.add_subcommand("inspect", "Shows the graph of a model");
    verb->add_option("MODEL", options->model,
                     "a .pt2, a TorchScript .pt, a project or a result folder")
        ->required();
    addEditOptions(*verb, options->edits);
    verb->add_option("--model", options->movedTo,
                     "of a project or a result: the new path of its model");
    auto* json = verb->add_flag("--json", options->json, "one JSON document on stdout");
    auto* code = verb->add_flag("--code", options->code, "the graph as torch.fx prints it");
    code->excludes(json);
    std::vector<std::string> forms;
    for (CodeForm form : kCodeForms)
        forms.emplace_back(codeFormName(form));
    auto* form = verb->add_option("--form", options->form,
                                  "of the code or the graph: float, prepared, reference or lowered")
                     ->check(CLI::IsMember(forms));
    auto* passes
        = verb->add_flag("--passes", options->passes,
                         "what each rewrite of the graph, on the way to the form, took and did");
    auto* after = verb->add_option("--after", options->after,
                                   "the graph as text after that pass, on the way to the form");
    passes->excludes(json)->excludes(code);
    after->excludes(json)->excludes(code)->excludes(passes);
    verb->add_option("--without", options->without, "a pass that is left out, with these two");
    verb->add_option(
        "--recipe", options->recipe,
        "the decisions that the other forms follow, and what it shows as one node; without "
        "one backend x86's own");
    verb->callback([options, form, &chosen] {
        if (form->count() > 0 && !options->code && !options->watchesPasses())
            throw CLI::RequiresError("--form", "--code, --passes or --after");
        if (!options->without.empty() && !options->watchesPasses())
            throw CLI::RequiresError("--without", "--passes or --after");
        chosen = [options](const CommandRun& job) { return runInspect(*options, job); };
    });
}

} // namespace qs
