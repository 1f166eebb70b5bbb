// SPDX-License-Identifier: Apache-2.0
#include "engine/blame/site_sums.h"

#include "engine/base/decibels.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

namespace qs {

namespace {

double squaredNorm(const at::Tensor& values)
{
    const at::Tensor flat = values.reshape({-1});
    return at::dot(flat, flat).item().toDouble();
}

} // namespace

SiteSums::SiteSums(std::size_t sites)
    : m_sums(sites)
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

void SiteSums::add(std::size_t site, int probe, const at::Tensor& value, const at::Tensor& noise,
                   const at::Tensor& gradient, SiteAxes axes)
{
    Sums& sums = m_sums[site];
    if (probe == 0) {
        sums.noise += squaredNorm(noise);
        sums.signal += squaredNorm(value);
        if (!sums.profile)
            sums.profile.emplace();
        sums.profile->add(value, noise, axes.channels, m_batchSamples);
    }
    Products& products = productsOf(site, probe);
    if (!gradient.defined()) {
        products.bySample.resize(std::size_t(m_batchSamples));
        return;
    }
    const at::Tensor product = gradient * noise;
    if (axes.samples >= 0) {
        std::vector<std::int64_t> others;
        for (std::int64_t d = 0; d < product.dim(); ++d)
            if (d != axes.samples)
                others.push_back(d);
        const at::Tensor bySample = (others.empty() ? product.to(at::kDouble)
                                                    : at::sum(product, others, false, at::kDouble))
                                        .cpu();
        products.bySample.resize(std::size_t(m_batchSamples));
        const double* sumsOf = bySample.const_data_ptr<double>();
        for (std::size_t i = 0; i < products.bySample.size(); ++i)
            products.bySample[i] += sumsOf[i];
    } else {
        products.isWhole = true;
        products.whole += at::sum(product, at::kDouble).item<double>();
    }
    sums.white += squaredNorm(noise) * squaredNorm(gradient)
        / double(std::max<std::int64_t>(1, value.numel()));
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

} // namespace qs
