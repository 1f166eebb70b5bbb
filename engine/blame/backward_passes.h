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

/// The reference form and the model without its quantizers, as they run. Borrows.
struct BlameRuns
{
    const FloatTwin& twin;
    const Interpreter& floatRun;
    const Interpreter& referenceRun;
    std::vector<std::size_t> outputs; ///< those that may be floats, among all, flat and in order
    std::vector<std::string> names; ///< of all outputs
    std::vector<double> weights {}; ///< of `outputs`; empty = all alike
};

/// Those of all outputs that a blame is about.
std::vector<at::Tensor> measuredOutputs(const BlameRuns& runs, const std::vector<at::Tensor>& all);

/// Runs batches back through the model without quantizers and sums what each site's noise does to
/// the outputs. One thread at a time.
class BackwardPasses
{
public:
    static Result<BackwardPasses> create(const BlameRuns& runs, std::uint64_t seed,
                                         std::size_t bytes, const JobContext& job);

    /// The outputs' signal of a batch that `add` gets later. Where there are several outputs, and
    /// several batches, all are measured before the first: each output counts by its whole signal.
    Result<void> measure(const std::vector<at::IValue>& inputs, std::int64_t samples,
                         const JobContext& job);
    /// One batch, `probes` times. Errors: an output that is not finite; those of running; a cancel.
    Result<void> add(const std::vector<at::IValue>& inputs, std::int64_t samples, int probes,
                     const JobContext& job);

    /// By site what was found of it; nothing of those that change no value that reaches them.
    std::vector<std::optional<SiteBlame>> sites() const;
    /// A line for each reason why a site has no derivative, or not all of it.
    std::set<std::string> blocks() const;
    /// Of the reference form.
    const OutputPowers& powers() const { return m_powers; }
    std::int64_t samples() const { return m_sums.samples(); }

private:
    BackwardPasses(const BlameRuns& runs, Gradients gradients, std::uint64_t seed);
    /// A stored tensor that lies on its grid, because it was quantized before, is not a site.
    Result<void> findIdleWeights(const JobContext& job);
    /// The outputs of the reference form; on the way, which of its quantizers change a value.
    Result<std::vector<at::Tensor>> runReference(const std::vector<at::IValue>& inputs,
                                                 const JobContext& job);
    Result<void> checkFinite(const std::vector<at::Tensor>& outputs) const;
    Result<void> addOutputs(const std::vector<at::Tensor>& outputs,
                            const std::vector<at::Tensor>& noisy, std::int64_t samples);
    std::vector<at::Tensor> cotangents(const std::vector<at::Tensor>& outputs, int probe) const;
    /// Converts shares from the signal power that probes are scaled by, that of the first batch if
    /// nothing was measured before, to that of all batches. The mean over the outputs.
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
    /// A value with noise in it, as long as places and probes have yet to see it.
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
