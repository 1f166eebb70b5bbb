// SPDX-License-Identifier: Apache-2.0
#include "engine/blame/site_sums.h"

#include "engine/base/decibels.h"
#include "engine/kernels/noise_products.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>

namespace qs {

namespace {

using kernels::NoiseSums;

/// SQNR of a batch's values below which their range may be wrong: seven bits with a suitable range
/// give about 34 dB.
constexpr double kPoorDb = 20;

bool isDense(const at::Tensor& tensor)
{
    return tensor.scalar_type() == at::kFloat && tensor.is_non_overlapping_and_dense();
}

/// The tensors with one common memory layout, samples first; copied only if necessary.
struct InOrder
{
    at::Tensor value, noisy, gradient;

    InOrder(const at::Tensor& v, const at::Tensor& n, const at::Tensor& g, int sampleAxis)
    {
        const bool areSamplesFirst = sampleAxis < 0
            || v.stride(sampleAxis) * v.size(sampleAxis) == v.numel() || v.size(sampleAxis) == 1;
        const bool isKept = isDense(v) && areSamplesFirst;
        const auto ordered = [&](const at::Tensor& tensor) {
            if (!isKept)
                return (sampleAxis > 0 ? tensor.movedim(sampleAxis, 0) : tensor)
                    .to(at::kFloat)
                    .contiguous();
            return isDense(tensor) && tensor.strides() == v.strides()
                ? tensor
                : at::empty_like(v).copy_(tensor);
        };
        value = ordered(v);
        noisy = ordered(n);
        gradient = ordered(g.defined() ? g : at::zeros_like(v));
    }
};

/// Returns the sums of each row: a sample, or the whole value if it has no sample axis.
std::vector<NoiseSums> sumsOf(const at::Tensor& value, const at::Tensor& noisy,
                              const at::Tensor& gradient, int sampleAxis)
{
    const std::int64_t rows = sampleAxis < 0 ? 1 : value.size(sampleAxis);
    std::vector<NoiseSums> sums {std::size_t(rows)};
    if (value.numel() == 0)
        return sums;
    if (value.is_cpu()) {
        const InOrder in(value, noisy, gradient, sampleAxis);
        kernels::noiseSumsCpu({in.value.const_data_ptr<float>(), in.noisy.const_data_ptr<float>(),
                               in.gradient.const_data_ptr<float>()},
                              rows, value.numel() / rows, at::get_num_threads(), sums.data());
        return sums;
    }
    const auto byRow = [&](const at::Tensor& a, const at::Tensor& b) {
        const at::Tensor product = a * b;
        const at::Tensor first = sampleAxis > 0 ? product.movedim(sampleAxis, 0) : product;
        return at::sum(first.reshape({rows, -1}), {1}, false, at::kDouble);
    };
    const at::Tensor noise = noisy - value;
    const at::Tensor slope = gradient.defined() ? gradient : at::zeros_like(value);
    const at::Tensor all = at::stack({byRow(value, value), byRow(noise, noise), byRow(slope, slope),
                                      byRow(slope, noise)},
                                     1)
                               .cpu();
    const double* found = all.const_data_ptr<double>();
    for (NoiseSums& row : sums) {
        row = {found[0], found[1], found[2], found[3]};
        found += 4;
    }
    return sums;
}

} // namespace

SiteSums::SiteSums(std::vector<bool> areValues, bool hasProfiles)
    : m_areValues(std::move(areValues))
    , m_hasProfiles(hasProfiles)
    , m_sums(m_areValues.size())
{
}

void SiteSums::beginBatch(std::int64_t samples, int probes)
{
    m_batchSamples = samples;
    m_probes = probes;
    m_batch.assign(m_sums.size() * std::size_t(probes), {});
}

SiteSums::Products& SiteSums::productsOf(std::size_t site, int probe)
{
    return m_batch.at(site * std::size_t(m_probes) + std::size_t(probe));
}

void SiteSums::add(std::size_t site, int probe, const at::Tensor& value, const at::Tensor& noisy,
                   const at::Tensor& gradient, SiteAxes axes)
{
    Sums& sums = m_sums[site];
    if (probe == 0 && m_hasProfiles) {
        if (!sums.profile)
            sums.profile.emplace();
        sums.profile->add(value, noisy, axes.channels, m_batchSamples);
    }
    const std::vector<NoiseSums> rows = sumsOf(value, noisy, gradient, axes.samples);
    Products& products = productsOf(site, probe);
    const bool isBySample = axes.samples >= 0;
    products.isWhole = products.isWhole || !isBySample;
    products.bySample.resize(std::size_t(m_batchSamples));
    double noise2 = 0, gradient2 = 0, signal2 = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        (isBySample ? products.bySample[i] : products.whole) += rows[i].product;
        noise2 += rows[i].noise2;
        gradient2 += rows[i].gradient2;
        signal2 += rows[i].signal2;
    }
    if (probe == 0) {
        sums.noise += noise2;
        sums.signal += signal2;
        if (m_areValues[site] && !sums.slopes && noise2 > 0
            && decibelsOf(signal2, noise2) < kPoorDb)
            sums.slopes.emplace();
        if (sums.slopes && gradient.defined())
            sums.slopes->add(value, gradient);
    }
    sums.white += noise2 * gradient2 / double(std::max<std::int64_t>(1, value.numel()));
}

void SiteSums::endBatch()
{
    for (std::size_t site = 0; site < m_sums.size(); ++site)
        for (int probe = 0; probe < m_probes; ++probe) {
            const Products& products = productsOf(site, probe);
            Sums& sums = m_sums[site];
            const auto addTerm = [&](double product, double samples) {
                const double square = product * product;
                sums.squares += square;
                sums.squaresOfMeans += square / samples * (square / samples);
                ++sums.terms;
            };
            if (products.isWhole) {
                double whole = products.whole;
                for (const double product : products.bySample)
                    whole += product;
                addTerm(whole, double(m_batchSamples));
            } else {
                for (const double product : products.bySample)
                    addTerm(product, 1);
            }
        }
    m_samples += m_batchSamples;
    m_rows += m_batchSamples * m_probes;
    m_batch.clear();
}

double SiteSums::share(std::size_t site) const
{
    return m_rows ? m_sums[site].squares / double(m_rows) : 0;
}

double SiteSums::standardError(std::size_t site) const
{
    const Sums& sums = m_sums[site];
    if (sums.terms < 2)
        return 0;
    const double mean = share(site);
    const double variance = sums.squaresOfMeans / double(sums.terms) - mean * mean;
    return std::sqrt(std::max(0.0, variance) / double(sums.terms - 1));
}

double SiteSums::white(std::size_t site) const
{
    return m_rows ? m_sums[site].white / double(m_rows) : 0;
}

std::optional<double> SiteSums::ownDb(std::size_t site) const
{
    const Sums& sums = m_sums[site];
    if (sums.noise <= 0 || sums.signal <= 0)
        return std::nullopt;
    return decibelsOf(sums.signal, sums.noise);
}

std::shared_ptr<const ValueProfile> SiteSums::profile(std::size_t site) const
{
    const auto& profile = m_sums[site].profile;
    return profile ? std::make_shared<const ValueProfile>(profile->result()) : nullptr;
}

std::shared_ptr<const ValueSlopes> SiteSums::slopes(std::size_t site) const
{
    const auto& slopes = m_sums[site].slopes;
    return slopes ? std::make_shared<const ValueSlopes>(slopes->result()) : nullptr;
}

} // namespace qs
