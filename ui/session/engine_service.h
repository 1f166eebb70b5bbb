// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/job_context.h"
#include "engine/compare/preview.h"
#include "engine/convert/ranges/value_alternatives.h"
#include "engine/edit/edited_model.h"
#include "engine/edit/operator_catalog.h"
#include "engine/execute/value_preview.h"
#include "engine/export/documents/node_data_reader.h"
#include "engine/pipeline/compare_file.h"
#include "engine/pipeline/stages.h"
#include "engine/result/stored_run.h"
#include "engine/values/value_inspection.h"
#include "engine/verify/certificate.h"

#include <memory>
#include <string>
#include <vector>

namespace qs {

using ScalarTextsPtr = std::shared_ptr<const ScalarTexts>;

/// The window's interface to the engine. Each call takes values, returns shared const values or an
/// Error, runs on the calling worker thread and stops within 200 ms of a cancel. Thread safe. Tests
/// use a fake.
class EngineService
{
public:
    virtual ~EngineService() = default;
    virtual Result<GraphPtr> open(const std::string& path, const JobContext& job) = 0;
    /// The model with the recipe's edits done to it (`StageChain::edited`).
    virtual Result<EditedModelPtr> edit(const GraphPtr& file, const Recipe& recipe,
                                        const JobContext& job)
        = 0;
    /// Writes a float model as a .pt2 (`StageChain::saveModel`).
    virtual Result<void> saveModel(const GraphPtr& model, const Recipe& recipe,
                                   const RunSettings& settings, const std::string& path,
                                   const JobContext& job)
        = 0;
    /// Writes the inputs of an extracted part (`StageChain::savePartInputs`).
    virtual Result<void> savePartInputs(const EditedModelPtr& part, const Recipe& recipe,
                                        const RunSettings& settings, const std::string& path,
                                        const JobContext& job)
        = 0;
    virtual Result<PlanPtr> plan(const GraphPtr& model, const Recipe& recipe, const JobContext& job)
        = 0;
    /// The forms of a model without calibration, for display only (`outlineConversion`).
    virtual Result<ConvertedPtr> outline(const GraphPtr& model, const PlanPtr& plan,
                                         const Recipe& recipe, const JobContext& job)
        = 0;
    virtual Result<CalibrationPtr> calibrate(const CalibrateRequest& request, const JobContext& job)
        = 0;
    virtual Result<ConvertedPtr> convert(const ConvertRequest& request, const JobContext& job) = 0;
    virtual Result<ComparisonPtr> compare(const CompareRequest& request, const JobContext& job) = 0;
    /// Which quantizers cause the noise of the outputs, and why (`StageChain::why`).
    virtual Result<DiagnosisPtr> blame(const CompareRequest& request, const JobContext& job) = 0;
    /// Errors that decisions cause on a few samples (`StageChain::preview`).
    virtual Result<PreviewPtr> previewErrors(const PreviewRequest& request, const JobContext& job)
        = 0;
    /// Inspects one value over the data of that comparison, and one sample's
    /// (`StageChain::inspect`, `sampleValues`).
    virtual Result<ValueInspectionPtr>
    inspect(const CompareRequest& request, const InspectionTarget& target, const JobContext& job)
        = 0;
    virtual Result<SampleValuesPtr> sampleValues(const CompareRequest& request,
                                                 const SampleWanted& wanted, const JobContext& job)
        = 0;
    virtual Result<ExportReport> exportTo(const ExportRequest& request, const JobContext& job) = 0;
    /// Runs the exports of a result folder in the runtimes they are for (`StageChain::verify`).
    virtual Result<Certificate> verify(const VerifyStageRequest& request, const JobContext& job)
        = 0;
    /// The document of a quantized file of any origin beside its float model (`compareWithFile`).
    virtual Result<std::string> compareFile(const FileCompareRequest& request,
                                            const JobContext& job)
        = 0;
    /// Results of these decisions that were made before and are still kept; runs no data.
    virtual Recalled recall(const CalibrateRequest& request, const JobContext& job) = 0;
    /// Takes over an earlier run's results (`StageChain::adopt`).
    virtual Result<std::string> adopt(const CalibrateRequest& request, const StoredRun& stored,
                                      const JobContext& job)
        = 0;
    /// A preview of a parameter, buffer or constant.
    virtual Result<ValuePreview> preview(const GraphPtr& model, NodeId node, const JobContext& job)
        = 0;
    /// Those that are a single number.
    virtual Result<ScalarTextsPtr> scalars(const GraphPtr& model, const JobContext& job) = 0;
    /// Other ways to quantize the value of an observer of the calibration; runs no data.
    virtual Result<std::vector<Alternative>>
    alternatives(const CalibrationPtr& calibration, ObserverId observer, const JobContext& job) = 0;
    virtual std::vector<std::string> backendNames() const = 0;
    /// Operators that an edit may insert (`operatorTargets`), and the arguments of one.
    virtual std::vector<std::string> operatorNames() const = 0;
    virtual Result<OperatorSchema> operatorSchema(const std::string& target) const = 0;
    virtual std::vector<std::string> exportForms() const = 0;
};

} // namespace qs
