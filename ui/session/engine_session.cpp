// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/session/engine_session.h"

#include "engine/configure/backend_config.h"
#include "engine/convert/outline.h"
#include "engine/execute/value_preview.h"
#include "engine/export/exporter.h"
#include "engine/import/importer.h"
#include "engine/pipeline/stage_chain.h"

#include <utility>

namespace qs {

namespace {

/// The window's engine: the chain of stages, and what is only looked at.
class EngineSession : public EngineService
{
public:
    EngineSession(std::string keepIn, std::size_t valueBytes)
        : m_chain(StageChain::Options {.checkpointFolder = std::move(keepIn),
                                       .valueBytes = valueBytes / 3 * 2,
                                       .previewBytes = valueBytes / 3})
    {
    }

    Result<GraphPtr> open(const std::string& path, const JobContext& job) override
    {
        return importModel(path, job);
    }

    Result<EditedModelPtr> edit(const GraphPtr& file, const Recipe& recipe,
                                const JobContext& job) override
    {
        return m_chain.edited(file, recipe, job);
    }

    Result<void> saveModel(const GraphPtr& model, const Recipe& recipe, const RunSettings& settings,
                           const std::string& path, const JobContext& job) override
    {
        return m_chain.saveModel(model, recipe, settings, path, job);
    }

    Result<void> savePartInputs(const EditedModelPtr& part, const Recipe& recipe,
                                const RunSettings& settings, const std::string& path,
                                const JobContext& job) override
    {
        return m_chain.savePartInputs(part, recipe, settings, path, job);
    }

    Result<PlanPtr> plan(const GraphPtr& model, const Recipe& recipe,
                         const JobContext& job) override
    {
        return m_chain.plan(model, recipe, job);
    }

    Result<ConvertedPtr> outline(const GraphPtr& model, const PlanPtr& plan, const Recipe& recipe,
                                 const JobContext& job) override
    {
        return outlineConversion(model, plan, recipe, job);
    }

    Result<CalibrationPtr> calibrate(const CalibrateRequest& request,
                                     const JobContext& job) override
    {
        return m_chain.calibrate(request, job);
    }

    Result<ConvertedPtr> convert(const ConvertRequest& request, const JobContext& job) override
    {
        return m_chain.convert(request, job);
    }

    Result<ComparisonPtr> compare(const CompareRequest& request, const JobContext& job) override
    {
        return m_chain.compare(request, job);
    }

    Result<PreviewPtr> previewErrors(const PreviewRequest& request, const JobContext& job) override
    {
        return m_chain.preview(request, job);
    }

    Result<DiagnosisPtr> blame(const CompareRequest& request, const JobContext& job) override
    {
        return m_chain.why(request, {}, job);
    }
    Result<ValueInspectionPtr> inspect(const CompareRequest& request,
                                       const InspectionTarget& target,
                                       const JobContext& job) override
    {
        return m_chain.inspect(request, target, job);
    }
    Result<SampleValuesPtr> sampleValues(const CompareRequest& request, const SampleWanted& wanted,
                                         const JobContext& job) override
    {
        return m_chain.sampleValues(request, wanted, job);
    }
    Result<ExportReport> exportTo(const ExportRequest& request, const JobContext& job) override
    {
        return m_chain.exportTo(request, job);
    }

    Result<Certificate> verify(const VerifyStageRequest& request, const JobContext& job) override
    {
        return m_chain.verify(request, job);
    }

    Result<std::string> compareFile(const FileCompareRequest& request,
                                    const JobContext& job) override
    {
        QS_TRY(FileCompareResult found, compareWithFile(request, job));
        return std::move(found.document);
    }

    Recalled recall(const CalibrateRequest& request, const JobContext& job) override
    {
        return m_chain.recall(request, job);
    }

    Result<std::string> adopt(const CalibrateRequest& request, const StoredRun& stored,
                              const JobContext& job) override
    {
        return m_chain.adopt(request, stored, job);
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

    Result<std::vector<Alternative>> alternatives(const CalibrationPtr& calibration,
                                                  ObserverId observer,
                                                  const JobContext& job) override
    {
        return alternativesOf(*calibration->prepared, *calibration->observations, observer, job);
    }

    std::vector<std::string> backendNames() const override { return shippedBackends(); }
    std::vector<std::string> operatorNames() const override { return operatorTargets(); }
    Result<OperatorSchema> operatorSchema(const std::string& target) const override
    {
        return ::qs::operatorSchema(target);
    }
    std::vector<std::string> exportForms() const override { return ::qs::exportForms(); }

private:
    StageChain m_chain;
};

} // namespace

std::unique_ptr<EngineService> makeEngineSession(std::string keepIn, std::size_t valueBytes)
{
    return std::make_unique<EngineSession>(std::move(keepIn), valueBytes);
}

} // namespace qs
