// SPDX-License-Identifier: Apache-2.0
#include "app/commands/console.h"
#include "app/commands/device_option.h"
#include "app/commands/planned_model.h"
#include "app/commands/quantize.h"
#include "app/commands/result_folder.h"
#include "app/commands/result_text.h"
#include "app/commands/stopwatch.h"
#include "app/commands/user_metric.h"
#include "engine/base/atomic_file.h"
#include "engine/base/log.h"
#include "engine/base/text.h"
#include "engine/calibrate/calibrator.h"
#include "engine/calibrate/checkpoint.h"
#include "engine/calibrate/observed_types.h"
#include "engine/compare/collect_outputs.h"
#include "engine/compare/comparator.h"
#include "engine/convert/choose_qparams.h"
#include "engine/convert/clipped_values.h"
#include "engine/convert/convert.h"
#include "engine/export/earlier_exports.h"
#include "engine/export/exporter.h"
#include "engine/import/sha256.h"
#include "engine/plan/model_warnings.h"
#include "engine/prepare/prepare.h"

#include <filesystem>
#include <optional>

namespace qs {

namespace {

/// Scales on top of scales: the numbers would mean nothing.
Result<void> checkFloat(const Graph& model)
{
    const std::string already = alreadyQuantized(model);
    if (already.empty())
        return {};
    return fail(makeError(ErrorCode::BadInput, already)
                    .inFile(model.info().path)
                    .withHint("quantize the float model it was made from; 'quantscope inspect' "
                              "shows its parameters, 'compare FLOAT --result FILE' what it loses"));
}

Result<void> checkCoverage(const PlannedModel& planned)
{
    if (planned.plan->quantizedOps > 0)
        return {};
    const auto main = mainReason(*planned.plan);
    const std::string remedy = main ? main->node->remedy.text : std::string();
    return fail(makeError(ErrorCode::BadInput,
                          "no node would be quantized, of "
                              + counted(planned.plan->totalOps, "operator") + "; the main reason: "
                              + (main ? main->node->reason : "the model has no operators"))
                    .inFile(planned.model->info().path)
                    .withHint((remedy.empty() ? remedy : remedy + "; ")
                              + "'quantscope plan' says why for every node"));
}

/// The conditions of --strict that the plan alone decides.
Result<void> checkStrictPlan(const PlannedModel& planned)
{
    const std::string& file = planned.model->info().path;
    if (!planned.plan->warnings.empty())
        return fail(makeError(ErrorCode::BadInput, "--strict: " + planned.plan->warnings.front())
                        .inFile(file));
    for (std::size_t i = 0; i < planned.plan->nodes.size(); ++i)
        if (planned.plan->nodes[i].verdict == Verdict::FloatByConstraint)
            return fail(
                makeError(ErrorCode::BadInput,
                          "--strict: its qconfig is dropped: " + planned.plan->nodes[i].reason)
                    .inFile(file)
                    .atNode(planned.model->nodes()[i]->name));
    return {};
}

std::string observedName(const PlannedModel& planned, const PlannedObserver& observer)
{
    if (!observer.interior.empty()) {
        const Node* owner = planned.model->tryGet(observer.weightOwner);
        return (owner ? owner->name : "?") + ", " + observer.interior;
    }
    const NodeId node = observer.isWeight || observer.edges.empty()
        ? observer.weightOwner
        : observer.edges.front().value.node;
    const Node* found = planned.model->tryGet(node);
    return found ? found->name : "?";
}

/// Observers that saw nothing quantize with scale 1: told, and refused by --strict.
Result<void> checkObserved(const PlannedModel& planned, const QParamsTable& qparams, bool strict)
{
    for (const PlannedObserver& observer : planned.plan->observers) {
        const auto chosen = qparams.find(observer.id);
        if (chosen == qparams.end() || chosen->second.calibrated)
            continue;
        const std::string name = observedName(planned, observer);
        if (strict)
            return fail(makeError(ErrorCode::BadInput, "--strict: its observer never saw a value")
                            .inFile(planned.model->info().path)
                            .atNode(name));
        warn("node '" + name
             + "': its observer never saw a value; scale 1 and zero point 0 are "
               "used");
    }
    return {};
}

/// One run of the verb: the stages in order, with what each leaves for the next.
class QuantizeJob
{
public:
    QuantizeJob(const QuantizeOptions& options, const JobContext& job)
        : m_options(options)
        , m_job(job)
    {
    }

    Result<void> run()
    {
        QS_CHECK(checkSpared({m_options.model, m_options.data}, m_options.forms, m_options.out));
        QS_CHECK(plan());
        QS_CHECK(checkCoverage(m_planned));
        if (m_options.strict)
            QS_CHECK(checkStrictPlan(m_planned));
        QS_TRY(m_parts.device, resolveDevice(m_options.device));
        QS_TRY(ResultFolder folder, ResultFolder::create(m_options.out));
        QS_CHECK(calibrateModel());
        if (const auto done = finish(folder); !done) {
            keepStatistics(done.error());
            return done;
        }
        m_checkpoint->remove();
        QS_CHECK(printResult(m_paths));
        return m_evaluated;
    }

private:
    /// What follows calibration.
    Result<void> finish(ResultFolder& folder)
    {
        QS_CHECK(convertAndCompare());
        m_evaluated = evaluate(folder.staging());
        QS_CHECK(m_job.check());
        QS_CHECK(writeFiles(folder.staging()));
        QS_CHECK(m_job.check());
        const EarlierExports earlier(m_options.out);
        QS_TRY(m_paths, folder.publish("result.json"));
        earlier.removeOutdated(m_paths, {m_options.model, m_options.data});
        return {};
    }

    /// A run that is cancelled after its calibration need not calibrate again.
    void keepStatistics(const Error& error) const
    {
        if (error.code != ErrorCode::Cancelled || m_data->isSequence())
            return;
        if (const auto saved = m_checkpoint->save(*m_observations); !saved)
            warn(saved.error().line());
    }

    /// Data come before the plan: of a file that does not tell every element type they do.
    Result<void> plan()
    {
        QS_TRY(Recipe recipe, recipeOrDefault(m_options.recipe));
        QS_TRY(GraphPtr model, openModel(m_options.model, m_job, &m_parts.timingSeconds));
        QS_CHECK(checkFloat(*model));
        m_cut = datasetOptions(recipe.calibration);
        QS_TRY(m_data, openDataset(m_options.data, *model, m_cut));
        QS_TRY(model, withObservedTypes(std::move(model), *m_data, m_job));
        QS_TRY(m_planned,
               planModel(std::move(model), std::move(recipe),
                         fileOfPlan(m_options.recipe, m_options.model), &m_parts.timingSeconds));
        return {};
    }

    Result<void> calibrateModel()
    {
        const Stopwatch preparing(&m_parts.timingSeconds, "prepare");
        m_job.report("prepare", "fusing and inserting observers", 0);
        QS_TRY(m_prepared, prepareModel(m_planned.model, m_planned.plan, m_job));
        preparing.stop();
        const Stopwatch calibrating(&m_parts.timingSeconds, "calibrate");
        m_checkpoint.emplace((std::filesystem::path(m_options.out) / kCheckpointFile).string(),
                             calibrationKey(*m_prepared, m_options.data, m_cut, m_parts.device));
        QS_TRY(m_observations,
               calibrate(*m_prepared, *m_data, m_parts.device, m_job, &*m_checkpoint));
        calibrating.stop();
        return {};
    }

    Result<void> convertAndCompare()
    {
        const Stopwatch converting(&m_parts.timingSeconds, "convert");
        m_job.report("convert", "choosing scales, lowering, checking kernels", 0);
        QParamsTable qparams = chooseAllQParams(*m_observations);
        QS_CHECK(checkObserved(m_planned, qparams, m_options.strict));
        for (const std::string& text :
             clippedValues(*m_planned.model, *m_planned.plan, *m_observations, qparams))
            warn(text);
        QS_TRY(const Batch first, m_data->batch(0));
        QS_TRY(m_converted,
               convertModel(m_prepared, std::move(qparams), m_planned.recipe, &first, m_job));
        converting.stop();
        const Stopwatch comparing(&m_parts.timingSeconds, "compare");
        QS_TRY(m_comparison, compareModels(*m_converted, *m_data, m_parts.device, m_job));
        comparing.stop();
        return {};
    }

    /// The user's own metric of the float and of the lowered model's outputs. The results are good
    /// without it: where it fails they are written, and the failure is told after them.
    Result<void> evaluate(const std::string& folder)
    {
        if (m_options.eval.empty())
            return {};
        const Stopwatch evaluating(&m_parts.timingSeconds, "eval");
        const auto names = outputNames(*m_planned.model);
        for (const auto& [name, graph] :
             {std::pair("float", m_planned.model), std::pair("int8", m_converted->lowered)}) {
            m_job.report("eval", name, 0);
            const std::string file = (std::filesystem::path(folder) / "outputs.npz").string();
            QS_CHECK(writeOutputs(graph, *m_data, names, file, m_job));
            const auto value = runUserMetric(m_options.eval, file);
            std::filesystem::remove(file);
            if (!value) {
                m_parts.evaluation.clear();
                return fail(value.error());
            }
            m_parts.evaluation[name] = *value;
        }
        evaluating.stop();
        return {};
    }

    Result<void> writeFiles(const std::string& folder)
    {
        const std::filesystem::path path(folder);
        const Stopwatch exporting(&m_parts.timingSeconds, "export");
        QS_CHECK(writeExports(folder));
        QS_CHECK(writeObservations(*m_observations, (path / "observations.npz").string()));
        exporting.stop();
        const std::string recipe = (path / "recipe.json").string();
        QS_CHECK(writeFileAtomically(recipe, recipeToJson(m_planned.recipe)));
        QS_TRY(m_parts.recipeSha256, fileSha256(recipe));
        m_parts.model = m_planned.model.get();
        m_parts.plan = m_planned.plan.get();
        m_parts.recipe = &m_planned.recipe;
        m_parts.converted = m_converted.get();
        m_parts.observations = m_observations.get();
        m_parts.comparison = m_comparison.get();
        m_parts.threads = m_observations->threads;
        return writeFileAtomically((path / "result.json").string(), resultJson(m_parts));
    }

    /// A form that nobody asked for by name and that cannot hold this model is left out, and said,
    /// as long as another can.
    Result<void> writeExports(const std::string& folder)
    {
        std::optional<Error> leftOut;
        for (const auto& form : m_options.forms) {
            m_job.report("export", form, 0);
            auto file = exportModel(*m_converted, form, folder, m_job);
            const bool another = !m_parts.exports.empty() || form != m_options.forms.back();
            if (file) {
                m_parts.exports[form] = std::filesystem::path(*file).filename().string();
                continue;
            }
            Error error = std::move(file).error();
            const bool cannot = error.code != ErrorCode::Io && error.code != ErrorCode::Cancelled;
            const auto name = std::filesystem::path(error.file).filename();
            if (!name.empty())
                error.file = (std::filesystem::path(m_options.out) / name).string();
            if (m_options.formsChosen || !another || !cannot)
                return fail(cannot && leftOut ? *leftOut : std::move(error));
            error.file = "no " + form;
            leftOut = std::move(error);
        }
        if (leftOut)
            warn("left out: " + leftOut->line());
        return {};
    }

    Result<void> printResult(const std::vector<std::string>& paths) const
    {
        if (m_options.json)
            return printOut(resultJson(m_parts));
        std::string text = resultText(m_parts) + "\nwritten:\n";
        for (const auto& path : paths) {
            std::error_code code;
            text += "  " + path + "  (" + bytesText(double(std::filesystem::file_size(path, code)))
                + ")\n";
        }
        return printOut(text);
    }

    const QuantizeOptions& m_options;
    const JobContext& m_job;
    PlannedModel m_planned;
    PreparedPtr m_prepared;
    DatasetOptions m_cut;
    std::unique_ptr<Dataset> m_data;
    std::optional<Checkpoint> m_checkpoint;
    ObservationsPtr m_observations;
    ConvertedPtr m_converted;
    ComparisonPtr m_comparison;
    ResultParts m_parts;
    Result<void> m_evaluated; ///< what became of --eval
    std::vector<std::string> m_paths; ///< what was written
};

} // namespace

Result<void> runQuantize(const QuantizeOptions& options, const JobContext& job)
{
    return toldOfModel(QuantizeJob(options, job).run(), options.model);
}

} // namespace qs
