// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/blame/float_twin.h"
#include "engine/blame/output_powers.h"
#include "engine/blame/site_sums.h"
#include "engine/execute/gradients/gradients.h"

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
    std::vector<std::size_t> outputs; ///< flat indices of outputs that may hold floats, ascending
    std::vector<std::string> names; ///< of all outputs
    std::vector<double> weights {}; ///< of `outputs`; empty = all alike
};

/// The outputs `runs.outputs`, out of all.
std::vector<at::Tensor> measuredOutputs(const BlameRuns& runs, const std::vector<at::Tensor>& all);

/// Runs batches backwards through the model without quantizers and sums the noise that each site
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
    /// Adds one batch, with `probes` probes. Errors: an output that is not finite, a failed
    /// operator, a cancel.
    Result<void> add(const std::vector<at::IValue>& inputs, std::int64_t samples, int probes,
                     const JobContext& job);

    /// The result of each site; nothing for a site that changes no value that reaches it.
    std::vector<std::optional<SiteBlame>> sites() const;
    /// A line for each reason why a site has no derivative, or not all of it.
    std::set<std::string> blocks() const;
    /// Noise over signal of the reference form.
    const OutputPowers& powers() const { return m_powers; }
    std::int64_t samples() const { return m_sums.samples(); }

private:
    BackwardPasses(const BlameRuns& runs, Gradients gradients, std::uint64_t seed);
    /// A stored tensor that lies on its grid, because it was quantized before, is not a site.
    Result<void> findIdleWeights(const JobContext& job);
    /// Returns the outputs of the reference form; notes which of its quantizers change a value.
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

    const BlameRuns& m_runs;
    Gradients m_gradients;
    std::uint64_t m_seed;
    SiteSums m_sums;
    std::vector<bool> m_idle; ///< by site: it changes no value that reaches it
    std::unordered_map<NodeId, std::vector<std::size_t>> m_pairs; ///< dequantize to its sites
    OutputPowers m_powers;
    OutputPowers m_ahead; ///< of `measure`
    std::int64_t m_aheadSamples = 0;
    int m_probes = 1;
    /// A value with noise, held until all places and probes have read it.
    struct Kept
    {
        at::Tensor noisy;
        int uses = 0;
    };
    std::vector<std::size_t> m_same; ///< by place: the first one with the same noise
    std::vector<int> m_uses; ///< by such a place: how many have it
    std::unordered_map<std::size_t, Kept> m_kept; ///< by such a place, within a batch
    std::vector<double> m_scales; ///< of the probes, by output; 0 = without signal
    std::int64_t m_batch = 0;
};

} // namespace qs
