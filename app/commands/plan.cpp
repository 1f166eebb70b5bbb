// SPDX-License-Identifier: Apache-2.0
#include "app/commands/command.h"
#include "app/commands/model/model_run.h"
#include "app/commands/model/planned_model.h"
#include "app/commands/model/restored_result.h"
#include "app/commands/text/console.h"
#include "app/commands/text/onnx_plan_text.h"
#include "engine/base/log.h"
#include "engine/base/text.h"
#include "engine/configure/backend/target.h"
#include "engine/configure/edit_text.h"
#include "engine/convert/outline.h"
#include "engine/export/documents/result_writer.h"
#include "engine/export/onnx_opset.h"
#include "engine/graph/text/node_titles.h"
#include "engine/pipeline/memory_prediction.h"
#include "engine/plan/block/hybrid.h"
#include "engine/plan/block/prepare_settings.h"
#include "engine/plan/cures/expand_cures.h"
#include "engine/plan/model_warnings.h"
#include "engine/plan/plan_diff.h"
#include "engine/plan/summaries/coverage.h"
#include "engine/plan/summaries/data_movement.h"

#include <CLI/CLI.hpp>
#include <algorithm>

namespace qs {

namespace {

struct PlanOptions
{
    std::string model, movedTo, recipe, backend, diff;
    AskedEdits edits;
    std::string form, target, result; ///< of an export
    std::vector<std::string> hybrid;
    std::int64_t onnxOpset = kOnnxOpset;
    bool json = false, strict = false;
};

/// Returns "Conv2d + ReLU" for "torch.nn.Conv2d + torch.nn.ReLU".
std::string shortPattern(const std::vector<std::string>& pattern)
{
    std::string text;
    for (const auto& name : pattern)
        text += (text.empty() ? "" : " + ") + name.substr(name.rfind('.') + 1);
    return text.empty() ? "-" : text;
}

std::string placeText(const Rule& rule)
{
    std::string text(ruleKindName(rule.kind));
    if (rule.kind == RuleKind::Edge)
        return text + " " + rule.key + " -> " + rule.secondKey + ", input "
            + std::to_string(rule.index);
    return rule.key.empty() ? text : text + " " + rule.key;
}

/// Returns "node conv1"; for a cure's rule "node conv1, cure float (tune 1f3a)".
std::string ruleText(const Rule& rule, const Recipe& recipe, const CureExpansion& cures)
{
    const int cure = cures.cureOf(rule);
    return placeText(rule) + (cure < 0 ? "" : ", " + cureMark(recipe.cures.at(std::size_t(cure))));
}

/// Returns the rule that decides the node, and the edge rules that decide its inputs.
std::string rulesText(const NodePlan& plan, const Recipe& recipe, const CureExpansion& cures)
{
    std::string text;
    for (const Rule& edge : plan.inputRules)
        text += ruleText(edge, recipe, cures) + "; ";
    return text + ruleText(plan.rule, recipe, cures);
}

std::string qconfigText(const NodePlan& plan)
{
    return plan.qconfig ? plan.qconfigName : "-";
}

/// Returns "backend x86, global qconfig x86", with a second line if the recipe names no target.
std::string targetText(const PlannedModel& planned)
{
    const std::string global = globalQConfig(planned.recipe);
    const std::string& name = planned.plan->backend;
    const bool file = planned.recipe.target() != name;
    return "backend " + name + (file ? " (" + planned.recipe.target() + ")" : "")
        + ", global qconfig "
        + (global.empty() ? "none: operators without a rule stay float" : global)
        + (planned.recipe.namesTarget() ? "" : "\n        " + assumedTarget(planned.recipe));
}

/// Returns "prepare.wrap keeps its 7 operators as one node; modules inside: head.fc".
std::string wrapText(const WrappedScope& wrap)
{
    std::string text
        = "prepare.wrap keeps its " + counted(wrap.glue.size(), "operator") + " as one node";
    for (std::size_t i = 0; i < wrap.modules.size(); ++i)
        text += (i ? ", " : "; modules inside: ") + wrap.modules[i];
    return text;
}

/// Returns why the node stays float, its notes, and what keeps it out of a fusion.
std::string whyText(const NodePlan& plan)
{
    std::string text = plan.reason.empty() ? plan.note : plan.reason.text();
    for (const Candidate& candidate : plan.candidates)
        if (candidate.text.find("blocked: ") != std::string::npos)
            text += (text.empty() ? "" : "; ") + candidate.text;
    return text;
}

MemoryPrediction memoryOf(const PlannedModel& planned)
{
    return predictMemory(*planned.model, *planned.plan, planned.recipe.calibration.batchSize);
}

PlannedMemory plannedMemory(const MemoryPrediction& memory)
{
    PlannedMemory out {memory.peak().bytes(), memory.samples, memory.device, {}};
    for (const auto& stage : memory.stages)
        out.stages.emplace_back(stage.name, stage.bytes());
    return out;
}

/// Returns the amount of data converted between int8 and float: in total, and for each shown
/// operator that a rule keeps float.
template<class IsShown>
std::string movementText(const PlannedModel& planned, const IsShown& isShown)
{
    const DataMovement movement(*planned.model, *planned.plan);
    const NodeTitles titles(*planned.model);
    const auto words = [](const MovedAmount& amount) {
        return counted(amount.values, "value") + ", " + bytesText(double(amount.bytes));
    };
    std::string text = "between int8 and float pass " + words(movement.whole()) + " a sample\n";
    for (const NodePlan& plan : planned.plan->nodes) {
        const bool tells
            = plan.group < 0 || planned.plan->groups[std::size_t(plan.group)].root == plan.node;
        if (plan.verdict != Verdict::FloatByRule || !tells || !isShown(plan.node))
            continue;
        if (const auto own = movement.causedBy(*planned.plan, plan); own.values > 0)
            text += "    for " + titles.of(planned.model->get(plan.node))
                + ", which a rule keeps float: " + words(own) + "\n";
    }
    return text;
}

std::string planText(const PlannedModel& planned, const CureExpansion& cures)
{
    TextTable table({"layer", "node", "pattern", "qconfig", "rule", "verdict", "reason"});
    const NodeTitles titles(*planned.model);
    const auto nodes = planned.model->nodes();
    const std::vector<WrappedScope> wraps = wrapsOf(*planned.model, planned.recipe);
    const auto wrapOf = [&wraps](NodeId node) -> const WrappedScope* {
        for (const WrappedScope& wrap : wraps)
            if (std::find(wrap.glue.begin(), wrap.glue.end(), node) != wrap.glue.end())
                return &wrap;
        return nullptr;
    };
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        const Node& node = *nodes[i];
        if (!node.isOperator())
            continue;
        if (const WrappedScope* wrap = wrapOf(node.id)) {
            if (wrap->glue.front() == node.id)
                table.add({wrap->path.empty() ? wrap->key : wrap->path, wrap->key + " (one node)",
                           "-", "-", "-", std::string(verdictName(Verdict::FloatByRule)),
                           wrapText(*wrap)});
            continue;
        }
        const NodePlan& plan = planned.plan->nodes.at(i);
        table.add({titles.of(node), node.name, shortPattern(plan.pattern), qconfigText(plan),
                   rulesText(plan, planned.recipe, cures), std::string(verdictName(plan.verdict)),
                   whyText(plan)});
    }
    const std::string already = alreadyQuantized(*planned.model);
    return "target: " + targetText(planned)
        + (already.empty() ? "" : "\n" + already + "; plan the float model it was made from")
        + "\n\n" + table.text() + "\nbackend " + planned.plan->backend + ": "
        + coverageOf(*planned.plan).text() + "\n"
        + movementText(planned, [&](NodeId id) { return !wrapOf(id); }) + "a run takes "
        + memoryOf(planned).text() + "\n";
}

/// Returns "x86 -> quantized", or one word if both sides are equal.
std::string fromTo(const std::string& before, const std::string& after)
{
    return before == after ? before : before + " -> " + after;
}

std::string diffText(const PlannedModel& before, const PlannedModel& after)
{
    const NodeTitles titles(*before.model);
    TextTable table({"layer", "node", "verdict", "qconfig", "pattern", "reason"});
    const auto changes = comparePlans(*before.model, *before.plan, *after.plan);
    for (const NodeChange& change : changes) {
        const Node& node = *before.model->nodes()[change.position];
        const NodePlan& a = before.plan->nodes[change.position];
        const NodePlan& b = after.plan->nodes[change.position];
        table.add({titles.of(node), node.name,
                   fromTo(std::string(verdictName(a.verdict)), std::string(verdictName(b.verdict))),
                   fromTo(qconfigText(a), qconfigText(b)),
                   fromTo(shortPattern(a.pattern), shortPattern(b.pattern)),
                   (b.quantized ? a : b).reason.text()});
    }
    const auto side = [](const PlannedModel& planned) {
        return targetText(planned) + ": " + coverageOf(*planned.plan).text() + "\n";
    };
    return "before: " + side(before) + "after:  " + side(after) + "\n"
        + (changes.empty() ? "no operator changes\n" : table.text() + "\n")
        + (changes.empty() ? ""
                           : std::to_string(changes.size()) + " of "
                   + counted(before.plan->totalOps, "operator") + " change\n");
}

Result<PlannedModel> planFor(StageChain& chain, const GraphPtr& model, const Recipe& recipe,
                             const std::string& backend, const std::string& file,
                             const CommandRun& job)
{
    if (backend.empty())
        return planWith(chain, model, recipe, file, job);
    QS_TRY(Recipe target, withBackend(recipe, backend));
    return planWith(chain, model, std::move(target), file, job);
}

void warnOf(const PlannedModel& planned, const std::string& prefix = {})
{
    for (const auto& warning : planned.plan->warnings)
        warn(prefix + warning);
    for (const PlanFinding& finding : planned.plan->findings)
        note(prefix + finding.text);
}

/// Returns the converted model: with `--result` that of the result with its ranges, else an
/// outline.
Result<ConvertedPtr> convertedFor(const PlanOptions& options, const CommandRun& job)
{
    StageChain chain;
    if (!options.result.empty()) {
        RunSettings settings;
        settings.calibrationData = "sample"; // its values are not used
        QS_TRY(const RestoredResult restored,
               restoreResult(chain, {options.result, options.model, settings}, job));
        return restored.converted;
    }
    QS_TRY(const ModelSource source,
           modelSource(options.model, options.recipe, options.movedTo, job, options.edits));
    QS_TRY(const EditedModelPtr edited, openEdited(chain, source.model, source.recipe, job));
    QS_TRY(const Recipe recipe, withHybrid(source.recipe, options.hybrid, *edited->graph));
    QS_TRY(const PlannedModel planned,
           planFor(chain, edited->graph, recipe, options.backend, source.file, job));
    warnOf(planned);
    return outlineConversion(planned.model, planned.plan, planned.recipe, job);
}

/// Prints the plan of the ONNX file (`--export onnx`).
Result<void> runOnnxPlan(const PlanOptions& options, const CommandRun& job)
{
    QS_TRY(const ConvertedPtr converted, convertedFor(options, job));
    const OnnxTarget target = onnxTargetFromName(options.target).value_or(OnnxTarget::Generic);
    QS_TRY(const OnnxPlan plan, planOnnx(*converted, options.onnxOpset, target));
    return printOut(options.json ? onnxPlanJson(plan) : onnxPlanText(plan));
}

Result<void> checkOptions(const PlanOptions& options)
{
    if (options.form.empty() && !(options.target + options.result).empty())
        return fail(ErrorCode::Usage, "--target and --result are about --export onnx");
    if (!options.form.empty() && !options.diff.empty())
        return fail(ErrorCode::Usage, "--export and --diff do not go together");
    if (!options.result.empty() && !(options.recipe + options.backend).empty())
        return fail(ErrorCode::Usage,
                    "a result has its own recipe: leave out --recipe and --backend");
    return {};
}

Result<void> runPlan(const PlanOptions& options, const CommandRun& job)
{
    QS_CHECK(checkOptions(options));
    if (!options.form.empty())
        return withModelNotes(runOnnxPlan(options, job), options.model);
    QS_TRY(const ModelSource source,
           modelSource(options.model, options.recipe, options.movedTo, job, options.edits));
    for (const std::string& backend : {options.backend, options.diff})
        if (!backend.empty())
            QS_CHECK(findBackend(backend)); // before opening the model, which takes longer
    job.report("import", source.model, 0);
    const std::string& file = source.file;
    StageChain chain;
    QS_TRY(const EditedModelPtr edited, openEdited(chain, source.model, source.recipe, job));
    const GraphPtr& model = edited->graph;
    QS_TRY(const Recipe recipe, withHybrid(source.recipe, options.hybrid, *model));
    QS_TRY(const PlannedModel planned, planFor(chain, model, recipe, options.backend, file, job));
    if (options.diff.empty()) {
        if (options.strict)
            QS_CHECK(checkStrict(planned, *edited));
        warnOf(planned);
        QS_TRY(const CureExpansionPtr cures, chain.cures(planned.model, planned.recipe, job));
        return printOut(options.json ? planJson(*model, *planned.plan, planned.recipe,
                                                plannedMemory(memoryOf(planned)))
                                     : planText(planned, *cures));
    }
    QS_TRY(const PlannedModel other, planFor(chain, model, recipe, options.diff, file, job));
    warnOf(planned, planned.plan->backend + ": ");
    warnOf(other, other.plan->backend + ": ");
    if (options.json)
        return printOut(
            planDiffJson(*model, {planned.recipe, *planned.plan}, {other.recipe, *other.plan}));
    return printOut(diffText(planned, other));
}

} // namespace

void addPlanCommand(CLI::App& app, Command& chosen)
{
    auto options = std::make_shared<PlanOptions>();
    CLI::App* verb
        = app.add_subcommand("plan", "Lists the effect of a recipe on every node, and the reason");
    verb->add_option("MODEL", options->model, "a .pt2, a TorchScript .pt or a project")->required();
    addMovedOption(*verb, options->movedTo);
    addEditOptions(*verb, options->edits);
    verb->add_option("--recipe", options->recipe, "the decisions; without one backend x86's own");
    verb->add_option("--backend", options->backend,
                     "another hardware target than the recipe's: a backend's name or file");
    addHybridOption(*verb, options->hybrid);
    verb->add_option("--diff", options->diff,
                     "plan for this backend too and print only the operators that change");
    verb->add_option("--export", options->form,
                     "what an export is going to be: onnx, with the integer kernel that each node "
                     "should get at its --target")
        ->check(CLI::IsMember({"onnx"}));
    verb->add_option("--target", options->target, "as for 'quantize': generic, ort-cpu, tensorrt")
        ->check(CLI::IsMember(onnxTargetNames()));
    verb->add_option("--onnx-opset", options->onnxOpset, "operator set of the export onnx")
        ->check(CLI::Range(kOldestOnnxOpset, kNewestOnnxOpset));
    verb->add_option("--result", options->result,
                     "the folder of a result: the export with its ranges");
    verb->add_flag("--strict", options->strict,
                   "fail if the plan does not follow an entry of the recipe");
    verb->add_flag("--json", options->json, "one JSON document on stdout");
    verb->callback([options, &chosen] {
        chosen = [options](const CommandRun& job) { return runPlan(*options, job); };
    });
}

} // namespace qs
