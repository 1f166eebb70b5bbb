// SPDX-License-Identifier: Apache-2.0
#include "app/commands/console.h"
#include "app/commands/planned_model.h"
#include "app/commands/quantize.h"
#include "app/commands/result_text.h"
#include "app/commands/stopwatch.h"
#include "app/commands/user_metric.h"
#include "engine/base/log.h"
#include "engine/base/text.h"
#include "engine/calibrate/checkpoint.h"
#include "engine/compare/collect_outputs.h"
#include "engine/export/exporter.h"
#include "engine/pipeline/checks.h"
#include "engine/pipeline/result_folder.h"

#include <filesystem>

namespace qs {

namespace {

/// Names all that --strict does not let pass.
Result<void> checkStrict(const PlannedModel& planned, const EditedModel& edited)
{
    auto findings = strictFindings(*planned.model, *planned.plan);
    for (std::string& line : unfitEdits(edited, planned.recipe.edits))
        findings.push_back(std::move(line));
    if (findings.empty())
        return {};
    std::string text;
    for (const std::string& finding : findings)
        text += (text.empty() ? "" : "; ") + finding;
    return fail(
        makeError(ErrorCode::BadInput,
                  "--strict: " + counted(std::int64_t(findings.size()), "finding") + ": " + text)
            .inFile(planned.model->info().path));
}

/// One run of the verb.
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
        QS_TRY(m_source, modelSource(m_options.model, m_options.recipe));
        const std::string& data = m_options.data.empty() ? m_source.data : m_options.data;
        if (data.empty())
            return fail(makeError(ErrorCode::Usage, "--data is required")
                            .withHint("only a project names data of its own"));
        m_settings = {data, {}, m_options.device};
        QS_CHECK(checkResultFolder(m_options.out, {m_options.model, m_source.model, data},
                                   m_options.forms));
        QS_CHECK(plan());
        QS_CHECK(checkRecipeSpared(m_options.recipe, m_planned.recipe, m_options.out));
        QS_CHECK(checkCoverage(*m_planned.model, *m_planned.plan));
        if (m_options.formsChosen)
            QS_CHECK(checkForms(*m_planned.model, m_options.forms));
        if (m_options.strict)
            QS_CHECK(checkStrict(m_planned, *m_edited));
        QS_TRY(ResultFolder folder, ResultFolder::create(m_options.out));
        m_chain.setCheckpointFolder(m_options.out);
        QS_CHECK(calibrateModel());
        if (const auto done = finish(folder.staging()); !done) {
            keepStatistics(done.error());
            return done;
        }
        QS_CHECK(printResult());
        return m_evaluated;
    }

private:
    /// What follows calibration. The metric's outputs pass through `scratch`.
    Result<void> finish(const std::string& scratch)
    {
        QS_CHECK(convertAndCompare());
        m_evaluated = evaluate(scratch);
        QS_CHECK(m_job.check());
        ExportRequest request {
            m_calibration,   m_converted,           m_comparison,  m_planned.recipe, m_settings,
            m_options.forms, m_options.formsChosen, m_options.out, m_timing,         m_evaluation};
        request.onnxOpset = m_options.onnxOpset;
        QS_TRY(m_written, m_chain.exportTo(request, m_job));
        return {};
    }

    /// A run that is cancelled after its calibration need not calibrate again.
    void keepStatistics(const Error& error) const
    {
        if (error.code != ErrorCode::Cancelled || m_planned.recipe.calibration.isSequence)
            return;
        if (const auto saved = m_chain.saveCheckpoint(*m_calibration); !saved)
            warn(saved.error().line());
    }

    /// Data come before the plan: of a file that does not tell every element type they do.
    Result<void> plan()
    {
        Recipe& recipe = m_source.recipe;
        QS_TRY(m_edited, openEdited(m_chain, m_source.model, recipe, m_job, &m_timing));
        GraphPtr model = m_edited->graph;
        QS_CHECK(checkFloat(*model));
        QS_CHECK(m_chain.data(*model, m_settings.calibrationData, recipe.calibration));
        QS_TRY(model, m_chain.typed(std::move(model), recipe, m_settings, m_job));
        QS_TRY(m_planned,
               planModel(m_chain, std::move(model), std::move(recipe), m_source.file, &m_timing));
        return {};
    }

    Result<void> calibrateModel()
    {
        QS_TRY(m_calibration,
               m_chain.calibrate({m_planned.model, m_planned.plan, m_planned.recipe, m_settings},
                                 m_job));
        if (!m_calibration->note.empty())
            note(m_calibration->note);
        m_timing["prepare"] = m_calibration->prepareSeconds;
        m_timing["calibrate"] = m_calibration->seconds;
        return {};
    }

    Result<void> convertAndCompare()
    {
        const Stopwatch converting(&m_timing, "convert");
        m_job.report("convert", "choosing scales, lowering, checking kernels", 0);
        QS_TRY(m_converted, m_chain.convert({m_calibration, m_planned.recipe, m_settings}, m_job));
        converting.stop();
        const Stopwatch comparing(&m_timing, "compare");
        QS_TRY(m_comparison,
               m_chain.compare({m_calibration, m_converted, m_planned.recipe, m_settings}, m_job));
        comparing.stop();
        if (m_options.strict && !m_comparison->losses.empty())
            return fail(makeError(ErrorCode::Numeric, "--strict: " + m_comparison->losses.front())
                            .inFile(m_planned.model->info().path));
        return {};
    }

    /// The user's own metric of the float and of the lowered model's outputs. The results are good
    /// without it: where it fails they are written, and the failure is told after them.
    Result<void> evaluate(const std::string& folder)
    {
        if (m_options.eval.empty())
            return {};
        const Stopwatch evaluating(&m_timing, "eval");
        const auto names = outputNames(*m_planned.model);
        QS_TRY(const auto data,
               m_chain.data(*m_planned.model, m_settings.calibrationData,
                            m_planned.recipe.calibration));
        for (const auto& [name, graph] :
             {std::pair("float", m_planned.model), std::pair("int8", m_converted->lowered)}) {
            m_job.report("eval", name, 0);
            const std::string file = (std::filesystem::path(folder) / "outputs.npz").string();
            QS_CHECK(writeOutputs(graph, *data, names, file, m_job));
            const auto value = runUserMetric(m_options.eval, file, m_job);
            std::filesystem::remove(file);
            if (!value) {
                m_evaluation.clear();
                return fail(value.error());
            }
            m_evaluation[name] = *value;
        }
        evaluating.stop();
        return {};
    }

    Result<void> printResult() const
    {
        if (m_options.json)
            return printOut(m_written.document);
        ResultParts parts;
        parts.model = m_planned.model.get();
        parts.plan = m_planned.plan.get();
        parts.converted = m_converted.get();
        parts.comparison = m_comparison.get();
        parts.observations = m_calibration->observations.get();
        parts.device = m_calibration->device;
        parts.evaluation = m_evaluation;
        std::string text = resultText(parts) + "\nwritten:\n";
        for (const auto& path : m_written.files) {
            std::error_code code;
            text += "  " + path + "  (" + bytesText(double(std::filesystem::file_size(path, code)))
                + ")\n";
        }
        return printOut(text);
    }

    const QuantizeOptions& m_options;
    const JobContext& m_job;
    StageChain m_chain;
    RunSettings m_settings;
    ModelSource m_source;
    EditedModelPtr m_edited;
    PlannedModel m_planned;
    CalibrationPtr m_calibration;
    ConvertedPtr m_converted;
    ComparisonPtr m_comparison;
    std::map<std::string, double> m_timing, m_evaluation;
    ExportReport m_written;
    Result<void> m_evaluated; ///< what became of --eval
};

} // namespace

Result<void> runQuantize(const QuantizeOptions& options, const JobContext& job)
{
    return toldOfModel(QuantizeJob(options, job).run(), options.model);
}

} // namespace qs
