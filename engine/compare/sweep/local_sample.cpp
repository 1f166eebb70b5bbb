// SPDX-License-Identifier: Apache-2.0
#include "engine/compare/sweep/local_sample.h"

#include <algorithm>
#include <cmath>

namespace qs {

void TermSpread::add(const kernels::ErrorSums& batch)
{
    noise += batch.noise2;
    signal += batch.signal2;
    noise2 += batch.noise2 * batch.noise2;
    both += batch.noise2 * batch.signal2;
    signal2 += batch.signal2 * batch.signal2;
}

void LocalSample::add(const kernels::ErrorTerms& terms, std::int64_t samplesOfBatch)
{
    ++batches;
    samples += samplesOfBatch;
    isolated.add(terms.isolated);
    inherited.add(terms.inherited);
    bornHere.add(terms.bornHere);
}

bool LocalSample::wants(std::int64_t batch, std::int64_t all) const
{
    const std::int64_t middle = all / 2;
    if (batch == 0 || batch <= middle)
        return batch == 0 || batch == middle;
    const auto isOpen = [&](const TermSpread& spread) {
        const auto error = standardErrorDb(spread, batches, all);
        return error && *error > kLocalErrorDb;
    };
    // A unit whose values had other shapes on those two batches has no figure yet.
    return batches < 2 || isOpen(isolated) || isOpen(bornHere);
}

std::optional<double> standardErrorDb(const TermSpread& spread, std::int64_t batches,
                                      std::int64_t all)
{
    if (!std::isfinite(spread.noise2) || !(spread.signal > 0) || !(spread.noise > 0))
        return std::nullopt;
    if (batches >= all)
        return 0;
    if (batches < 2)
        return std::nullopt;
    const double n = double(batches), ratio = spread.noise / spread.signal;
    const double squares = spread.noise2 - 2 * ratio * spread.both + ratio * ratio * spread.signal2;
    const double rest = 1 - n / double(all);
    const double relative = std::sqrt(std::max(0.0, squares) * rest * n / (n - 1)) / spread.noise;
    return 10 / std::log(10) * relative;
}

} // namespace qs
