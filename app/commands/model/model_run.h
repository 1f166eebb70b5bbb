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
    AskedEdits edits; ///< beside the recipe's
    std::string movedTo; ///< where a project's model is by now; "" = not given
    std::string recipe, data, compareOn; ///< empty: the project's
    std::string eval; ///< the user's own metric, a command; empty = none
    std::string device = "auto";
    std::string against; ///< of `addAgainstOption`; "" = the project's choice, else "edited"
    std::string localTerms; ///< of `addLocalTermsOption`; "" = the project's choice, else "sampled"
    std::vector<std::string> hybrid; ///< of `addHybridOption`
    bool strict = false;
};

/// Fails if --strict forbids something, and names all of it.
Result<void> checkStrict(const PlannedModel& planned, const EditedModel& edited);

/// The stages from a model's file to the comparison, each called once and in this order. Notes and
/// warnings go to the log. An error at a node names no file: see `withModelNotes`.
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
    /// The user's own metric of the float and of the lowered model's outputs, which pass through
    /// the folder `scratch`; nothing without one.
    Result<void> evaluate(const std::string& scratch);

    StageChain& chain() { return m_chain; }
    const ModelSource& source() const { return m_source; }
    const RunSettings& settings() const { return m_settings; }
    const PlannedModel& planned() const { return m_planned; }
    const CalibrationPtr& calibration() const { return m_calibration; }
    const DiagnosisPtr& diagnosis() const { return m_diagnosis; } ///< null before `why`
    const ConvertedPtr& converted() const { return m_converted; }
    const ComparisonPtr& comparison() const { return m_comparison; }
    /// Of the stages so far. "calibrate" is the whole call: it opens the data and prepares.
    StageTimes& times() { return m_times; }
    /// Samples of the batch that the comparison's node times are of: the mean over all batches but
    /// the first, which warms up. Reads the first batch.
    Result<double> timedSamples();
    /// The request to the chain for a comparison, or a blame, of the conversion.
    CompareRequest compareRequest() const
    {
        return {m_calibration, m_converted, m_planned.recipe, m_settings, m_edited};
    }
    /// The request that writes the results so far into `folder`.
    ExportRequest exportRequest(const std::string& folder) const;
    /// The same for a result document; borrows from this object.
    ResultParts parts() const;

private:
    /// Seconds by stage, for documents: preparing and calibrating as the calibration has them.
    std::map<std::string, double> timingSeconds() const;
    /// The data of the comparison, as the recipe cuts it.
    Result<std::shared_ptr<const Dataset>> comparedData(const Graph& model, const Recipe& recipe);
    /// Takes smaller batches if --memory is too small for the recipe's, with a note.
    Result<void> keepToMemoryLimit();
    /// Takes over calibration's decisions on values that are not finite, with a warning for each.
    /// Errors: with --strict, the first of them.
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
    DataState m_dataState; ///< of the data when they were opened
    StageTimes m_times;
    std::map<std::string, double> m_evaluation;
};

} // namespace qs
