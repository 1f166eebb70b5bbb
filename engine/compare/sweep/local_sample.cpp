// SPDX-License-Identifier: Apache-2.0
#include "engine/compare/sweep/local_sample.h"

#include <algorithm>
#include <cmath>

namespace qs {

void TermSpread::add(const kernels::ErrorSums& batch)
{
    ++batches;
    noise += batch.noise2;
    signal += batch.signal2;
    noise2 += batch.noise2 * batch.noise2;
    both += batch.noise2 * batch.signal2;
    signal2 += batch.signal2 * batch.signal2;
}

std::optional<double> TermSpread::variance() const
{
    if (batches < 2 || !std::isfinite(noise2) || !(signal > 0) || !(noise > 0))
        return std::nullopt;
    const double n = double(batches), ratio = noise / signal;
    const double squares = std::max(0.0, noise2 - 2 * ratio * both + ratio * ratio * signal2);
    return n * n / (n - 1) * squares / (noise * noise);
}

void LocalSample::add(const kernels::ErrorTerms& terms, std::int64_t samplesOfBatch)
{
    samples += samplesOfBatch;
    isolated.add(terms.isolated);
    inherited.add(terms.inherited);
    bornHere.add(terms.bornHere);
    cumulative.add(terms.cumulative);
}

bool LocalSample::wants(std::int64_t batch, std::int64_t all) const
{
    const std::int64_t middle = all / 2;
    if (batch <= middle)
        return batch == 0 || batch == middle;
    const auto isOpen = [&](const TermSpread& local) {
        const auto error = standardErrorDb(local, all);
        return error && *error > kLocalErrorDb;
    };
    // A unit whose values had other shapes on those two batches has no figure yet.
    return isolated.batches < 2 || isOpen(isolated) || isOpen(bornHere);
}

std::optional<double> LocalSample::standardErrorDb(const TermSpread& local, std::int64_t all) const
{
    constexpr double kPriorFreedom = 4; // degrees of freedom that the cumulative term counts for
    const auto own = local.variance();
    if (!own)
        return std::nullopt;
    const double n = double(local.batches);
    const auto prior = cumulative.variance();
    const double variance
        = prior ? ((n - 1) * *own + kPriorFreedom * *prior) / (n - 1 + kPriorFreedom) : *own;
    const double rest = 1 - n / double(all);
    return 10 / std::log(10) * std::sqrt(std::max(0.0, rest) * variance / n);
}

} // namespace qs
