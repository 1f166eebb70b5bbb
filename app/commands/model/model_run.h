// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/commands/model/planned_model.h"
#include "engine/export/documents/result_writer.h"
#include "engine/pipeline/keys/decision_keys.h"

#include <map>
#include <string>

namespace qs {

/// Options that `quantize` and `check` share.
struct ModelRunOptions
{
    std::string model; ///< or a project
    AskedEdits edits; ///< in addition to the recipe's
    std::string movedTo; ///< new path of a project's model; "" = not given
    std::string recipe, data, compareOn; ///< empty: the project's
    std::string eval; ///< the user's own metric, a command; empty = none
    std::string device = "auto";
    std::string against; ///< of `addAgainstOption`; "" = the project's choice, else "edited"
    std::string localTerms; ///< of `addLocalTermsOption`; "" = the project's choice, else "sampled"
    std::vector<std::string> hybrid; ///< of `addHybridOption`
    bool strict = false;
    bool trains = false; ///< the model will be trained for its qconfigs
};

/// Fails if --strict forbids something; the error names everything that it forbids.
Result<void> checkStrict(const PlannedModel& planned, const EditedModel& edited);

/// The stages from a model's file to the comparison; call each once and in this order. Notes and
/// warnings go to the log. Errors at a node name no file: see `withModelNotes`.
class ModelRun
{
public:
    /// Borrows both.
    ModelRun(const ModelRunOptions& options, const CommandRun& job);

    /// Determines its input: a model with its recipe and data, or those that a project names.
    /// Errors: no data (Usage).
    Result<void> locate();
    /// Plans. Fails for a quantized model, a plan that quantizes nothing, and findings that
    /// --strict forbids.
    Result<void> plan();
    Result<void> calibrate();
    Result<void> convert();
    /// `convert`, then measures.
    Result<void> convertAndCompare();
    /// Finds the causes of the outputs' noise; follows `convert`.
    Result<void> why();
    /// Runs the user's metric on the outputs of both models. No effect without a metric.
    Result<void> evaluate();

    StageChain& chain() { return m_chain; }
    const ModelSource& source() const { return m_source; }
    const RunSettings& settings() const { return m_settings; }
    const PlannedModel& planned() const { return m_planned; }
    const CalibrationPtr& calibration() const { return m_calibration; }
    const DiagnosisPtr& diagnosis() const { return m_diagnosis; } ///< null before `why`
    const ConvertedPtr& converted() const { return m_converted; }
    const ComparisonPtr& comparison() const { return m_comparison; }
    /// The times of the stages so far. "calibrate" includes opening the data and preparing.
    StageTimes& times() { return m_times; }
    /// Returns the samples per batch of the comparison's node times: the mean over all batches but
    /// the first, which warms up. Reads the first batch.
    Result<double> timedSamples();
    /// The request to the chain for a comparison, or a blame, of the conversion.
    CompareRequest compareRequest() const
    {
        return {m_calibration, m_converted, m_planned.recipe, m_settings, m_edited};
    }
    /// The request that writes the results so far into `folder`.
    ExportRequest exportRequest(const std::string& folder) const;
    /// The parts of a result document; borrows from this object.
    ResultParts parts() const;

private:
    /// Seconds by stage, for documents; those of preparing and calibrating are the calibration's.
    std::map<std::string, double> timingSeconds() const;
    /// The data of the comparison, limited as by the recipe.
    Result<std::shared_ptr<const Dataset>> comparedData(const Graph& model, const Recipe& recipe);
    /// Takes smaller batches if --memory is too small for the recipe's, with a note.
    void keepToMemoryLimit();
    /// Adds the calibration's decisions on values that are not finite, with a warning for each.
    /// With --strict, fails with the first of them.
    Result<void> takeNotFinite();

    const ModelRunOptions& m_options;
    const CommandRun& m_job;
    StageChain m_chain;
    RunSettings m_settings;
    ModelSource m_source;
    EditedModelPtr m_edited;
    PlannedModel m_planned;
    CalibrationPtr m_calibration;
    ConvertedPtr m_converted;
    ComparisonPtr m_comparison;
    DiagnosisPtr m_diagnosis;
    DataState m_dataState; ///< state of the data when they were opened
    StageTimes m_times;
    std::optional<Evaluation> m_evaluation;
};

} // namespace qs
