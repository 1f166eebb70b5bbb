// SPDX-License-Identifier: Apache-2.0
#include "engine/base/files/atomic_file.h"
#include "engine/base/files/file_hash.h"
#include "engine/base/json/json_reader.h"
#include "engine/base/log.h"
#include "engine/base/memory/freed_memory.h"
#include "engine/blame/why_json.h"
#include "engine/calibrate/data/dataset.h"
#include "engine/compare/output_errors.h"
#include "engine/configure/backend_config.h"
#include "engine/convert/form_parts.h"
#include "engine/convert/ranges/value_alternatives.h"
#include "engine/convert/saturating_form.h"
#include "engine/export/documents/earlier_exports.h"
#include "engine/export/documents/result_writer.h"
#include "engine/export/documents/saturating_text.h"
#include "engine/export/exporter.h"
#include "engine/pipeline/check_written.h"
#include "engine/pipeline/keys/content_keys.h"
#include "engine/pipeline/result_folder.h"
#include "engine/pipeline/stage_chain.h"
#include "engine/plan/cures/expand_cures.h"
#include "engine/plan/names/node_words.h"

#include <chrono>
#include <filesystem>
#include <optional>

namespace qs {

namespace fs = std::filesystem;

namespace {

/// Writes one export into a staging folder: forms, then documents.
class Writer
{
public:
    /// `compared`: what the comparison ran on.
    Writer(const ExportRequest& request, CureExpansionPtr cures, const ResultFolder& folder,
           const Batch& batch, const Dataset& compared, const JobContext& job)
        : m_request(request)
        , m_staging(folder.staging())
        , m_batch(batch)
        , m_compared(compared)
        , m_job(job)
    {
        const Calibration& calibration = *request.calibration;
        m_parts.model = calibration.prepared->model.get();
        m_parts.plan = calibration.prepared->plan.get();
        m_parts.recipe = &request.recipe;
        m_parts.converted = request.converted.get();
        m_parts.observations = calibration.observations.get();
        m_parts.comparison = request.comparison.get();
        m_parts.device = calibration.device;
        m_parts.threads = calibration.observations->threads;
        m_parts.ranks = request.ranks;
        m_parts.timingSeconds = request.timingSeconds;
        m_parts.evaluation = request.evaluation;
        m_parts.cures = std::move(cures);
        m_parts.search = request.search;
        if (request.diagnosis)
            m_parts.why = std::make_shared<const ResultDocument::Json>(
                whyDocument({m_parts.model, m_parts.plan, request.diagnosis.get()}));
    }

    /// Returns the text of the result document.
    Result<std::string> run(std::string dataSha256, std::string comparedSha256)
    {
        const auto start = std::chrono::steady_clock::now();
        m_parts.calibrationData = m_request.settings.calibrationData;
        m_parts.dataSha256 = std::move(dataSha256);
        m_parts.comparisonData = m_request.settings.comparisonData;
        m_parts.comparedSha256 = std::move(comparedSha256);
        QS_CHECK(writeRecipe());
        QS_CHECK(writeForms());
        QS_CHECK(measureSaturatingForm());
        if (m_request.alternatives) {
            QS_TRY(m_alternatives,
                   allAlternatives(*m_request.calibration->prepared, *m_parts.observations, m_job));
            m_parts.alternatives = &m_alternatives;
        }
        QS_CHECK(m_job.check());
        QS_CHECK(writeObservations(*m_parts.observations, at("observations.npz"), {}, m_job));
        m_parts.timingSeconds["export"]
            = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        QS_TRY(std::string document, resultJson(m_parts, m_job));
        QS_CHECK(writeFileAtomically(at("result.json"), document));
        QS_CHECK(m_job.check());
        return document;
    }

    std::vector<std::string> notes() const
    {
        return m_parts.saturating ? saturatingLines(*m_parts.saturating)
                                  : std::vector<std::string>();
    }

private:
    std::string at(const char* name) const { return (fs::path(m_staging) / name).string(); }

    /// Leaves out, with a warning, a form that was not requested by name and cannot hold this
    /// model, if another form can.
    Result<void> writeForms()
    {
        std::vector<std::pair<std::string, Error>> leftOut;
        const auto& forms = m_request.forms;
        for (std::size_t i = 0; i < forms.size(); ++i) {
            QS_CHECK(m_job.check());
            m_job.report("export", forms[i], double(i) / double(forms.size()));
            auto file = writeForm(forms[i]);
            QS_CHECK(m_job.check());
            returnFreedMemory(); // memory of one writer must not add to that of the next
            if (file) {
                m_parts.exports[forms[i]] = *file;
                QS_TRY(m_parts.exportHashes[*file], fileSha256(at(file->c_str()), m_job));
                const std::string beside = *file + kBesideSuffix;
                if (fs::exists(at(beside.c_str()))) {
                    QS_TRY(m_parts.exportHashes[beside], fileSha256(at(beside.c_str()), m_job));
                }
                continue;
            }
            Error error = std::move(file).error();
            if (const auto form = exportedGraph(*m_request.converted, forms[i], false, m_job))
                error = atModelNode(std::move(error), **form, *m_parts.model);
            const bool cannot = error.code != ErrorCode::Io && error.code != ErrorCode::Cancelled
                && error.code != ErrorCode::Numeric;
            const auto name = fs::path(error.file).filename();
            if (!name.empty())
                error.file = (fs::path(m_request.folder) / name).string();
            if (m_request.formsChosen || !cannot)
                return fail(std::move(error));
            leftOut.emplace_back(forms[i], std::move(error));
        }
        if (m_parts.exports.empty() && !leftOut.empty())
            return fail(std::move(leftOut.front().second));
        for (auto& [form, error] : leftOut) {
            error.file = "no " + form;
            note("left out: " + error.line());
        }
        return {};
    }

    Result<std::string> writeForm(const std::string& form)
    {
        QS_TRY(const std::string path,
               exportModel(*m_request.converted, form, m_staging, m_job,
                           {m_request.onnxOpset, m_request.onnxTarget, m_parts.recipeSha256,
                            m_request.saturates}));
        const std::string name = fs::path(path).filename().string();
        if (!isReadBack(form) && !m_request.formsChosen)
            return name; // no note for default forms
        QS_TRY(const std::string unchecked,
               checkWritten(*m_request.converted, form, m_request.saturates, path, m_batch, m_job));
        if (!unchecked.empty())
            warn(name + " was written and could not be checked by reading it back: " + unchecked);
        return name;
    }

    /// Measures the outputs of the saturating form. The comparison does not cover it: there,
    /// integers saturate at the limits of their types.
    Result<void> measureSaturatingForm()
    {
        SaturatingErrors errors;
        for (const auto& [form, file] : m_parts.exports)
            if (m_request.saturates && holdsSaturatingForm(form))
                errors.files.push_back(file);
        if (errors.files.empty())
            return {};
        const ConvertedPtr converted = onModelInputs(m_request.converted);
        QS_TRY(const SaturatingForm own, saturatingForm(*converted, m_job));
        if (own.values == 0)
            return {};
        errors.values = own.values;
        m_job.report("export", "measuring what the files compute", 1);
        if (m_request.comparison) {
            QS_TRY(errors.outputs,
                   outputErrors(m_request.calibration->prepared->model, own.graph,
                                converted->referenceEdits, m_compared, m_job));
        }
        m_parts.saturating = std::move(errors);
        return {};
    }

    /// Copies the file of a cure if it exists; without one the cure does not apply.
    static Result<void> copyCured(const std::string& from, const std::string& to)
    {
        std::error_code code;
        if (!std::filesystem::is_regular_file(from, code)
            || std::filesystem::equivalent(from, to, code))
            return {};
        std::filesystem::copy_file(from, to, std::filesystem::copy_options::overwrite_existing,
                                   code);
        return code ? fail(makeError(ErrorCode::Io, code.message()).inFile(to)) : Result<void>();
    }

    /// Writes the recipe, and the backend file if the recipe names one.
    Result<void> writeRecipe()
    {
        const Recipe& recipe = m_request.recipe;
        if (isBackendPath(recipe.target())) {
            QS_TRY(const std::string text, readTextFile(recipe.target()));
            QS_CHECK(writeFileAtomically(at(kBackendFile), text));
            QS_TRY(m_parts.backendSha256, fileSha256(at(kBackendFile), m_job));
        }
        for (const Cure& cure : recipe.cures)
            if (!cure.file.empty())
                QS_CHECK(copyCured(cure.file, at(fileInResult(cure).c_str())));
        QS_CHECK(writeFileAtomically(at("recipe.json"), writtenRecipe(recipe)));
        QS_TRY(m_parts.recipeSha256, fileSha256(at("recipe.json"), m_job));
        return {};
    }

    const ExportRequest& m_request;
    std::string m_staging;
    const Batch& m_batch;
    const Dataset& m_compared;
    const JobContext& m_job;
    ResultParts m_parts;
    AlternativesTable m_alternatives;
};

} // namespace

Result<ExportReport> StageChain::exportTo(const ExportRequest& request, const JobContext& job)
{
    const Graph& model = *request.calibration->prepared->model;
    const std::string& source = request.settings.calibrationData;
    QS_CHECK(checkResultFolder(request.folder,
                               {model.info().path, source, request.settings.comparisonData},
                               request.forms));
    QS_TRY(ResultFolder folder, ResultFolder::create(request.folder));
    QS_TRY(const auto opened, data(model, source, request.recipe.calibration));
    QS_TRY(const Batch batch, opened->batch(0));
    QS_TRY(std::string content, m_hashes.of(source, model.info().sha256, job));
    QS_TRY(std::string compared,
           m_hashes.of(request.settings.compared(), model.info().sha256, job));
    ExportReport report;
    report.folder = request.folder;
    QS_TRY(const auto comparisonData,
           data(model, request.settings.compared(),
                comparedCut(request.settings, request.recipe.calibration)));
    QS_TRY(CureExpansionPtr cured,
           cures(request.calibration->prepared->model, request.recipe, job));
    Writer writer(request, std::move(cured), folder, batch, *comparisonData, job);
    QS_TRY(report.document, writer.run(std::move(content), std::move(compared)));
    report.notes = writer.notes();
    const EarlierExports earlier(request.folder);
    QS_TRY(report.files, folder.publish("result.json"));
    earlier.removeOutdated(report.files,
                           {model.info().path, source, request.settings.comparisonData});
    return report;
}

} // namespace qs
