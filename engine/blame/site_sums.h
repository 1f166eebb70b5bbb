// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/blame/profile_sums.h"
#include "engine/blame/slope_sums.h"

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace qs {

/// Roles of a value's dimensions; -1 = no such dimension, or unknown.
struct SiteAxes
{
    int channels = -1;
    int samples = -1; ///< the dimension of the batch's samples
};

/// For each site, the sum of <gradient, noise>^2 over the backward passes of all batches. One
/// thread at a time.
class SiteSums
{
public:
    /// `areValues`: by site, true if slopes are gathered (`ValueSlopes`). Without profiles, only
    /// shares and SQNRs.
    explicit SiteSums(std::vector<bool> areValues, bool hasProfiles = true);

    void beginBatch(std::int64_t samples, int probes);
    /// Adds one place of a site: its value, the value with noise, and the gradient of one probe,
    /// all of equal shape. An undefined gradient counts as zero.
    void add(std::size_t site, int probe, const at::Tensor& value, const at::Tensor& noisy,
             const at::Tensor& gradient, SiteAxes axes);
    void endBatch();

    /// Mean over samples and probes; 0 if nothing was added to the site.
    double share(std::size_t site) const;
    double standardError(std::size_t site) const;
    double white(std::size_t site) const;
    /// True if the site's values have noise.
    bool isNoisy(std::size_t site) const { return m_sums[site].noise > 0; }
    /// SQNR of the site's values; nullopt without noise.
    std::optional<double> ownDb(std::size_t site) const;
    /// Null if nothing was added.
    std::shared_ptr<const ValueProfile> profile(std::size_t site) const;
    /// Null if the site's noise was never large enough to suggest a wrong range.
    std::shared_ptr<const ValueSlopes> slopes(std::size_t site) const;
    std::int64_t samples() const { return m_samples; }
    std::int64_t batchSamples() const { return m_batchSamples; } ///< as passed to `beginBatch`

private:
    /// Products of one site and probe in the current batch.
    struct Products
    {
        std::vector<double> bySample;
        double whole = 0; ///< for places without a sample dimension
        bool isWhole = false;
    };
    struct Sums
    {
        double squares = 0, squaresOfMeans = 0, white = 0, signal = 0, noise = 0;
        std::int64_t terms = 0;
        std::optional<ProfileSums> profile;
        std::optional<SlopeSums> slopes;
    };
    Products& productsOf(std::size_t site, int probe);

    std::vector<bool> m_areValues;
    bool m_hasProfiles;
    std::vector<Sums> m_sums;
    std::vector<Products> m_batch; ///< products by site and probe
    std::int64_t m_batchSamples = 0, m_samples = 0;
    int m_probes = 1;
    std::int64_t m_rows = 0; ///< samples times probes so far
};

} // namespace qs
