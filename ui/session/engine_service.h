// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "engine/base/job_context.h"
#include "engine/calibrate/observations.h"
#include "engine/compare/comparison.h"
#include "engine/configure/recipe.h"
#include "engine/convert/converted_model.h"
#include "engine/execute/value_preview.h"
#include "engine/export/node_data_reader.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace qs {

/// What a calibration gave: the graph that was observed, what the observers saw, and the
/// quantization parameters that follow. A value.
struct Calibration
{
    PreparedPtr prepared;
    ObservationsPtr observations;
    QParamsTable qparams;
    std::string device; ///< "cpu", "cuda:0"
    std::string note; ///< why this device, or empty
    double seconds = 0;
};
using CalibrationPtr = std::shared_ptr<const Calibration>;

using ScalarTextsPtr = std::shared_ptr<const ScalarTexts>;

/// Which data a run uses and where it runs.
struct RunSettings
{
    std::string calibrationData; ///< path or "sample"
    std::string comparisonData; ///< empty: the calibration data
    std::string device = "auto"; ///< "auto", "cpu", "cuda", "cuda:N"
    friend bool operator==(const RunSettings&, const RunSettings&) = default;
};

struct CalibrateRequest
{
    GraphPtr model;
    PlanPtr plan;
    Recipe recipe;
    RunSettings settings;
};

struct ConvertRequest
{
    CalibrationPtr calibration;
    Recipe recipe;
    RunSettings settings;
};

struct CompareRequest
{
    ConvertedPtr converted;
    Recipe recipe;
    RunSettings settings;
    std::string device; ///< resolved by the calibration
};

struct ExportRequest
{
    ConvertedPtr converted;
    CalibrationPtr calibration;
    ComparisonPtr comparison; ///< may be null: the result document then has no errors
    Recipe recipe;
    std::vector<std::string> forms; ///< of EngineService::exportForms
    std::string folder;
    std::map<std::string, double> timingSeconds;
};

struct ExportReport
{
    std::string folder;
    std::vector<std::string> files; ///< paths written, in order
};

/// All that the window asks of the engine. Each call takes values and returns shared const values
/// or an Error, runs on a worker thread, may be called from several, and stops within 200 ms of a
/// cancel. Tests put a fake in its place.
class EngineService
{
public:
    virtual ~EngineService() = default;
    virtual Result<GraphPtr> open(const std::string& path, const JobContext& job) = 0;
    virtual Result<PlanPtr> plan(const GraphPtr& model, const Recipe& recipe) = 0;
    /// The forms of a model that nobody calibrated, to be read only (`outlineConversion`).
    virtual Result<ConvertedPtr> outline(const GraphPtr& model, const PlanPtr& plan,
                                         const Recipe& recipe, const JobContext& job)
        = 0;
    virtual Result<CalibrationPtr> calibrate(const CalibrateRequest& request, const JobContext& job)
        = 0;
    virtual Result<ConvertedPtr> convert(const ConvertRequest& request, const JobContext& job) = 0;
    virtual Result<ComparisonPtr> compare(const CompareRequest& request, const JobContext& job) = 0;
    virtual Result<ExportReport> exportTo(const ExportRequest& request, const JobContext& job) = 0;
    /// A look at a parameter, buffer or constant.
    virtual Result<ValuePreview> preview(const GraphPtr& model, NodeId node, const JobContext& job)
        = 0;
    /// Those that are a single number.
    virtual Result<ScalarTextsPtr> scalars(const GraphPtr& model, const JobContext& job) = 0;
    virtual std::vector<std::string> backendNames() const = 0;
    virtual std::vector<std::string> exportForms() const = 0;
};

} // namespace qs
