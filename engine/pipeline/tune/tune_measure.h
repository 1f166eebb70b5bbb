// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/compare/metrics/class_scores.h"
#include "engine/pipeline/tune/tune.h"

#include <ATen/core/Tensor.h>

namespace qs {

class Dataset;

/// A recipe made into a model, up to the reference form.
struct TrialModel
{
    CalibrationPtr calibration;
    std::shared_ptr<const ConvertedModel> converted;
    double int8Macs = 1;
};

/// Measures recipes on search data and guard data against the outputs of the model that the search
/// began with, which it keeps. One thread at a time.
class TuneMeasure
{
public:
    /// Cuts the data and runs the float model. Errors: the data's; no guard.
    static Result<TuneMeasure> create(StageChain& chain, const TuneRequest& request,
                                      const JobContext& job);

    Result<TrialModel> make(const Recipe& recipe, const JobContext& job) const;
    /// Fills in the figures.
    Result<void> measure(const TrialModel& model, Trial& trial, const JobContext& job) const;
    const Dataset& searchData() const { return *m_search; }
    std::int64_t searchSamples() const { return m_searchSamples; }
    std::int64_t guardSamples() const { return m_guardSamples; }
    bool reaches(const TrialFigures& figures) const;

private:
    TuneMeasure(StageChain& chain, const TuneRequest& request)
        : m_chain(chain)
        , m_request(request)
    {
    }
    Result<TrialFigures> figures(const TrialModel& model, const Dataset& data,
                                 const std::vector<std::vector<at::Tensor>>& clean,
                                 const JobContext& job) const;

    StageChain& m_chain;
    const TuneRequest& m_request;
    std::shared_ptr<const Dataset> m_search, m_guard; ///< the guard is null where there is none
    std::vector<std::vector<at::Tensor>> m_cleanSearch, m_cleanGuard; ///< by batch
    std::vector<ClassScores> m_scores;
    std::int64_t m_searchSamples = 0, m_guardSamples = 0;
};

/// Share of the multiplications whose operator is quantized, inputs and weight alike; 1 without
/// any.
double int8Share(const Graph& model, const Plan& plan);

} // namespace qs
