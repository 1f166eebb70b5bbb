// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/blame/float_twin.h"
#include "engine/blame/output_powers.h"
#include "engine/blame/site_sums.h"
#include "engine/convert/qparams.h"
#include "engine/execute/gradients/gradients.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

namespace qs {

/// The reference form and the model without its quantizers, with their interpreters. Borrows.
struct BlameRuns
{
    const FloatTwin& twin;
    const Interpreter& floatRun;
    const Interpreter& referenceRun;
    /// Flat indices of outputs that may be floating-point, ascending.
    std::vector<std::size_t> outputs;
    std::vector<std::string> names; ///< names of all outputs
    std::vector<double> weights {}; ///< weights of `outputs`; empty = equal
    std::map<std::size_t, std::vector<QParams>> tries {}; ///< by site: other ranges of its value
};

/// Returns the outputs `runs.outputs` of all outputs.
std::vector<at::Tensor> measuredOutputs(const BlameRuns& runs, const std::vector<at::Tensor>& all);

/// Runs backward passes through the model without quantizers and sums the noise that each site
/// causes in the outputs. One thread at a time.
class BackwardPasses
{
public:
    static Result<BackwardPasses> create(const BlameRuns& runs, std::uint64_t seed,
                                         std::size_t bytes, const JobContext& job);

    /// Adds the outputs' signal power of a batch. With several outputs and several batches, call it
    /// for all batches before the first `add`: each output is then scaled by its total signal.
    Result<void> measure(const std::vector<at::IValue>& inputs, std::int64_t samples,
                         const JobContext& job);
    /// Adds one batch, with `probes` probes. Fails on a non-finite output, a failed operator, or
    /// cancellation.
    Result<void> add(const std::vector<at::IValue>& inputs, std::int64_t samples, int probes,
                     const JobContext& job);

    /// Returns the result of each site; nullopt for a site whose quantizer changes no value.
    std::vector<std::optional<SiteBlame>> sites() const;
    /// Returns one line for each reason why a site has no derivative or only a part of it.
    std::set<std::string> blocks() const;
    /// Noise over signal of the reference form.
    const OutputPowers& powers() const { return m_powers; }
    std::int64_t samples() const { return m_sums.samples(); }

private:
    BackwardPasses(const BlameRuns& runs, Gradients gradients, std::uint64_t seed);
    /// Excludes weights that are already on their quantization grid: they are not sites.
    Result<void> findIdleWeights(const JobContext& job);
    /// Returns the outputs of the reference form; records which of its quantizers change a value.
    Result<std::vector<at::Tensor>> runReference(const std::vector<at::IValue>& inputs,
                                                 const JobContext& job);
    Result<void> checkFinite(const std::vector<at::Tensor>& outputs) const;
    Result<void> addOutputs(const std::vector<at::Tensor>& outputs,
                            const std::vector<at::Tensor>& noisy, std::int64_t samples);
    std::vector<at::Tensor> cotangents(const std::vector<at::Tensor>& outputs, int probe) const;
    /// Factor that converts shares from the signal power that scales the probes (without `measure`,
    /// that of the first batch) to that of all batches; the mean over the outputs.
    double correction() const;
    Result<void> addPlace(std::size_t index, int probe, const at::Tensor& value,
                          const at::Tensor& gradient, const Frame& segment);
    void addTries(std::size_t site, int probe, const at::Tensor& value, const at::Tensor& gradient,
                  SiteAxes axes);

    const BlameRuns& m_runs;
    Gradients m_gradients;
    std::uint64_t m_seed;
    SiteSums m_sums;
    SiteSums m_tried; ///< of the tried ranges, site after site
    std::unordered_map<std::size_t, std::size_t> m_triedFrom; ///< by site: its first in `m_tried`
    std::vector<bool> m_idle; ///< by site: its quantizer changes no value
    /// Maps a dequantize to its sites.
    std::unordered_map<NodeId, std::vector<std::size_t>> m_pairs;
    OutputPowers m_powers;
    OutputPowers m_ahead; ///< powers from `measure`
    std::int64_t m_aheadSamples = 0;
    int m_probes = 1;
    /// A value with noise, kept until all places and probes have read it.
    struct Kept
    {
        at::Tensor noisy;
        int uses = 0;
    };
    std::vector<std::size_t> m_same; ///< by place: the first place with the same noise
    std::vector<int> m_uses; ///< by such a place: number of places with its noise
    std::unordered_map<std::size_t, Kept> m_kept; ///< by such a place, within a batch
    std::vector<double> m_scales; ///< scales of the probes, by output; 0 = no signal
    std::int64_t m_batch = 0;
};

} // namespace qs
