// SPDX-License-Identifier: Apache-2.0
#include "app/commands/quantize.h"
#include "app/commands/text/console.h"
#include "app/commands/text/result_text.h"
#include "app/commands/text/timing_text.h"
#include "app/commands/text/why_text.h"
#include "engine/base/json/json_text.h"
#include "engine/base/log.h"
#include "engine/base/text.h"
#include "engine/calibrate/checkpoint.h"
#include "engine/convert/form_parts.h"
#include "engine/convert/outline.h"
#include "engine/export/exporter.h"
#include "engine/export/onnx/targets/onnx_plan.h"
#include "engine/pipeline/checks.h"
#include "engine/pipeline/result_folder.h"
#include "engine/pipeline/tune/search_summary.h"
#include "engine/result/result_document.h"

#include <algorithm>
#include <filesystem>

namespace qs {

namespace {

constexpr std::size_t kToldCauses = 5; ///< listed causes; 'why' lists the others

/// One run of the verb.
class QuantizeJob
{
public:
    QuantizeJob(const QuantizeOptions& options, const CommandRun& job)
        : m_options(options)
        , m_job(job)
        , m_run(options, job)
        , m_target(onnxTargetFromName(options.onnxTarget).value_or(OnnxTarget::Generic))
    {
    }

    Result<void> run()
    {
        QS_CHECK(m_run.locate());
        QS_CHECK(
            checkResultFolder(m_options.out,
                              {m_options.model, m_run.source().model,
                               m_run.settings().calibrationData, m_run.settings().comparisonData},
                              m_options.forms));
        QS_CHECK(m_run.plan());
        const PlannedModel& planned = m_run.planned();
        m_search
            = searchSummary(m_options.recipe, *m_run.compareRequest().edited->file, planned.recipe);
        QS_CHECK(checkRecipeSpared(m_options.recipe, planned.recipe, m_options.out));
        if (m_options.formsChosen)
            QS_CHECK(checkForms(*planned.model, m_options.forms));
        QS_CHECK(checkTarget());
        if (!m_job.group()->isFirst()) {
            QS_CHECK(m_run.calibrate());
            return m_run.convertAndCompare();
        }
        QS_TRY(ResultFolder folder, ResultFolder::create(m_options.out));
        m_run.chain().setCheckpointFolder(m_options.out);
        QS_CHECK(m_run.calibrate());
        if (auto done = finish(); !done) {
            keepStatistics(done.error());
            return done;
        }
        if (m_options.timing)
            QS_CHECK(measureTiming());
        QS_CHECK(printResult());
        if (m_options.timing)
            printErr(timingText(m_timing));
        return m_evaluated;
    }

private:
    /// Fails if the plan already shows integers that the target does not support.
    Result<void> checkTarget() const
    {
        const auto& forms = m_options.forms;
        if (m_target != OnnxTarget::TensorRt
            || std::find(forms.begin(), forms.end(), "onnx") == forms.end())
            return {};
        const PlannedModel& planned = m_run.planned();
        QS_TRY(const ConvertedPtr outline,
               outlineConversion(planned.model, planned.plan, planned.recipe, m_job));
        QS_TRY(const OnnxPlan plan, planOnnx(*outline, m_options.onnxOpset, m_target));
        return {};
    }

    /// Runs the stages after calibration. The results are valid without the metric: if it fails,
    /// they are written before its error is returned.
    Result<void> finish()
    {
        QS_CHECK(m_run.convertAndCompare());
        if (m_options.why)
            QS_CHECK(m_run.why());
        m_evaluated = m_run.evaluate();
        QS_CHECK(m_job.check());
        ExportRequest request = m_run.exportRequest(m_options.out);
        request.forms = m_options.forms;
        request.formsChosen = m_options.formsChosen;
        request.onnxOpset = m_options.onnxOpset;
        request.onnxTarget = m_target;
        request.search = m_search;
        request.saturates = m_options.saturate == kAtObserver;
        request.alternatives = m_options.alternatives;
        const Stopwatch exporting(&m_run.times(), "export");
        QS_TRY(m_written, m_run.chain().exportTo(request, m_job));
        exporting.stop();
        return {};
    }

    /// Adds the times to the document.
    Result<void> measureTiming()
    {
        const StageTime whole = m_watch.taken();
        QS_TRY(const ResultDocument document, ResultDocument::fromText(m_written.document));
        QS_TRY(const double samples, m_run.timedSamples());
        Json json = document.json();
        m_timing = timingJson({m_run.times(), whole, *onModelInputs(m_run.converted()),
                               *m_run.comparison(), samples, json, m_written.files});
        json["timing"] = m_timing;
        QS_TRY(m_written.document, jsonText(json, {2, true}, m_job));
        m_written.document += "\n";
        return {};
    }

    /// After a cancel, or if another rank failed, stores the calibration's statistics so that the
    /// next run can reuse them.
    void keepStatistics(const Error& error)
    {
        const bool isStopped = error.code == ErrorCode::Cancelled || !m_job.group()->isAlone();
        if (!isStopped || m_run.planned().recipe.calibration.isSequence)
            return;
        if (const auto saved = m_run.chain().saveCheckpoint(*m_run.calibration()); !saved)
            warn(saved.error().line());
    }

    Result<void> printResult() const
    {
        if (m_options.json)
            return printOut(m_written.document);
        std::string text = resultText(m_run.parts());
        if (const DiagnosisPtr& diagnosis = m_run.diagnosis()) {
            const PlannedModel& planned = m_run.planned();
            const WhyParts parts {planned.model.get(), planned.plan.get(), diagnosis.get()};
            text += "\n" + whyText(parts, kToldCauses, "'why " + m_options.out + "' lists all");
        }
        for (const std::string& line : m_written.notes)
            text += m_job.words().named(line) + "\n";
        text += "\nwritten:\n";
        for (const auto& path : m_written.files) {
            std::error_code code;
            text += "  " + path + "  (" + bytesText(double(std::filesystem::file_size(path, code)))
                + ")\n";
        }
        return printOut(text);
    }

    const QuantizeOptions& m_options;
    const CommandRun& m_job;
    ModelRun m_run;
    OnnxTarget m_target;
    ExportReport m_written;
    std::shared_ptr<const Json> m_search; ///< `searchSummary` of the recipe
    Stopwatch m_watch {nullptr, "quantize"};
    Json m_timing; ///< from `timingJson`; null without --timing
    Result<void> m_evaluated; ///< outcome of --eval
};

} // namespace

Result<void> runQuantize(const QuantizeOptions& options, const CommandRun& job)
{
    return withModelNotes(QuantizeJob(options, job).run(), options.model);
}

} // namespace qs
