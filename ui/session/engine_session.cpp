// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/engine_session.h"

#include "engine/base/atomic_file.h"
#include "engine/base/log.h"
#include "engine/calibrate/calibrator.h"
#include "engine/calibrate/checkpoint.h"
#include "engine/calibrate/dataset.h"
#include "engine/calibrate/observed_types.h"
#include "engine/compare/comparator.h"
#include "engine/configure/backend_config.h"
#include "engine/convert/choose_qparams.h"
#include "engine/convert/clipped_values.h"
#include "engine/convert/convert.h"
#include "engine/convert/outline.h"
#include "engine/execute/value_preview.h"
#include "engine/export/earlier_exports.h"
#include "engine/export/exporter.h"
#include "engine/export/result_writer.h"
#include "engine/import/importer.h"
#include "engine/import/sha256.h"
#include "engine/plan/planner.h"
#include "engine/prepare/prepare.h"

#include <chrono>
#include <filesystem>
#include <optional>
#include <utility>

namespace qs {

namespace {

using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point start)
{
    return std::chrono::duration<double>(Clock::now() - start).count();
}

const std::string& comparisonData(const RunSettings& settings)
{
    return settings.comparisonData.empty() ? settings.calibrationData : settings.comparisonData;
}

class EngineSession : public EngineService
{
public:
    explicit EngineSession(std::string keepIn)
        : m_keepIn(std::move(keepIn))
    {
    }

    Result<GraphPtr> open(const std::string& path, const JobContext& job) override
    {
        return importModel(path, job);
    }

    Result<PlanPtr> plan(const GraphPtr& model, const Recipe& recipe) override
    {
        QS_TRY(const Backend backend, findBackend(recipe.backend));
        QS_TRY(Plan plan, makePlan(*model, recipe, backend));
        return std::make_shared<const Plan>(std::move(plan));
    }

    Result<ConvertedPtr> outline(const GraphPtr& model, const PlanPtr& plan, const Recipe& recipe,
                                 const JobContext& job) override
    {
        return outlineConversion(model, plan, recipe, job);
    }

    Result<CalibrationPtr> calibrate(const CalibrateRequest& request,
                                     const JobContext& job) override
    {
        const auto start = Clock::now();
        QS_TRY(DeviceChoice device, chooseDevice(request.settings.device));
        const std::string& source = request.settings.calibrationData;
        const DatasetOptions cut = datasetOptions(request.recipe.calibration);
        QS_TRY(const auto data, openDataset(source, *request.model, cut));
        auto out = std::make_shared<Calibration>();
        QS_TRY(const GraphPtr model, withObservedTypes(request.model, *data, job));
        PlanPtr planned = request.plan;
        if (model != request.model) {
            QS_TRY(planned, plan(model, request.recipe));
        }
        QS_TRY(out->prepared, prepareModel(model, planned, job));
        const auto checkpoint = checkpointOf(*out->prepared, source, cut, device.device);
        QS_TRY(out->observations,
               ::qs::calibrate(*out->prepared, *data, device.device, job,
                               checkpoint ? &*checkpoint : nullptr));
        if (checkpoint)
            checkpoint->remove();
        out->qparams = chooseAllQParams(*out->observations);
        for (const std::string& text : clippedValues(*out->prepared->model, *out->prepared->plan,
                                                     *out->observations, out->qparams))
            warn(text);
        out->device = device.device;
        out->note = device.note;
        out->seconds = secondsSince(start);
        return CalibrationPtr(out);
    }

    Result<ConvertedPtr> convert(const ConvertRequest& request, const JobContext& job) override
    {
        const auto& prepared = request.calibration->prepared;
        DatasetOptions amount = datasetOptions(request.recipe.calibration);
        amount.batches = 1; // enough to check the kernels
        QS_TRY(const auto data,
               openDataset(request.settings.calibrationData, *prepared->model, amount));
        QS_TRY(const Batch batch, data->batch(0));
        return convertModel(prepared, request.calibration->qparams, request.recipe, &batch, job);
    }

    Result<ComparisonPtr> compare(const CompareRequest& request, const JobContext& job) override
    {
        const bool ownData = !request.settings.comparisonData.empty();
        const DatasetOptions amount = ownData ? wholeDatasetOptions(request.recipe.calibration)
                                              : datasetOptions(request.recipe.calibration);
        QS_TRY(const auto data,
               openDataset(comparisonData(request.settings), *request.converted->prepared->model,
                           amount));
        return compareModels(*request.converted, *data, request.device, job);
    }

    Result<ExportReport> exportTo(const ExportRequest& request, const JobContext& job) override
    {
        QS_CHECK(ensureWritableFolder(request.folder));
        QS_CHECK(checkSpared({request.converted->prepared->model->info().path}, request.forms,
                             request.folder));
        const EarlierExports earlier(request.folder);
        ExportReport report {request.folder, {}};
        std::map<std::string, std::string> names;
        const auto& forms = request.forms;
        for (std::size_t i = 0; i < forms.size(); ++i) {
            QS_CHECK(job.check());
            job.report("export", forms[i], double(i) / double(forms.size()));
            QS_TRY(const std::string path,
                   exportModel(*request.converted, forms[i], request.folder, job));
            names[forms[i]] = std::filesystem::path(path).filename().string();
            report.files.push_back(path);
        }
        QS_CHECK(writeRecords(request, names, report));
        earlier.removeOutdated(report.files, {request.converted->prepared->model->info().path});
        return report;
    }

    Result<ValuePreview> preview(const GraphPtr& model, NodeId node, const JobContext& job) override
    {
        return previewValue(*model, node, job);
    }

    Result<ScalarTextsPtr> scalars(const GraphPtr& model, const JobContext& job) override
    {
        QS_TRY(ScalarTexts texts, scalarTexts(*model, job));
        return std::make_shared<const ScalarTexts>(std::move(texts));
    }

    std::vector<std::string> backendNames() const override { return shippedBackends(); }
    std::vector<std::string> exportForms() const override { return ::qs::exportForms(); }

private:
    /// Nothing where there is no folder for it: calibration goes without.
    std::optional<Checkpoint> checkpointOf(const PreparedModel& prepared, const std::string& source,
                                           const DatasetOptions& cut,
                                           const std::string& device) const
    {
        std::error_code code;
        if (!m_keepIn.empty())
            std::filesystem::create_directories(m_keepIn, code);
        if (m_keepIn.empty() || code)
            return std::nullopt;
        return Checkpoint((std::filesystem::path(m_keepIn) / kCheckpointFile).string(),
                          calibrationKey(prepared, source, cut, device));
    }

    static Result<void> writeRecords(const ExportRequest& request,
                                     const std::map<std::string, std::string>& names,
                                     ExportReport& report)
    {
        const auto& prepared = *request.converted->prepared;
        ResultParts parts;
        parts.model = prepared.model.get();
        parts.plan = prepared.plan.get();
        parts.recipe = &request.recipe;
        parts.converted = request.converted.get();
        parts.observations = request.calibration->observations.get();
        parts.comparison = request.comparison.get();
        parts.device = request.calibration->device;
        parts.threads = request.calibration->observations->threads;
        parts.timingSeconds = request.timingSeconds;
        parts.exports = names;
        const std::string folder = request.folder + "/";
        QS_CHECK(
            writeObservations(*request.calibration->observations, folder + "observations.npz"));
        QS_CHECK(writeFileAtomically(folder + "recipe.json", recipeToJson(request.recipe)));
        QS_TRY(parts.recipeSha256, fileSha256(folder + "recipe.json"));
        QS_CHECK(writeFileAtomically(folder + "result.json", resultJson(parts)));
        for (const std::string_view name : kRecordFiles)
            report.files.push_back(folder + std::string(name));
        return {};
    }

    std::string m_keepIn;
};

} // namespace

std::unique_ptr<EngineService> makeEngineSession(std::string keepIn)
{
    return std::make_unique<EngineSession>(std::move(keepIn));
}

} // namespace qs
