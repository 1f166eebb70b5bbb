// SPDX-License-Identifier: Apache-2.0
#include "engine/correct/round_weight.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace qs {

namespace {

/// Limits of the damping, as a share of the mean square of an input. GPTQ's is the least; with
/// fewer rows than inputs it follows them too closely: on samples not seen 1 and 3 lost least.
constexpr double kLeastShare = 0.01, kMostShare = 1;
constexpr double kLeastDamping = 1e-12;
constexpr std::int64_t kBlock = 128; ///< columns whose effects are applied at once
constexpr int kMostSweeps = 20;
constexpr double kLeastGain = 0.02; ///< of the first sweep's, that justifies another one

/// The rounding of one layer's weight. All tensors: [groups, outputs, inputs].
class Rounding
{
public:
    Rounding(const WeightGrid& grid, const LayerSums& sums)
        : m_scale(grid.scale)
    {
        const at::Tensor ideal = grid.weight / grid.scale;
        m_low = within(grid, ideal.floor());
        m_high = within(grid, m_low + 1);
        m_high = at::where(ideal.lt(grid.lowest), m_low, m_high); // clipped: no choice
        m_steps = within(grid, ideal.round());
        const double share
            = std::clamp(double(sums.squares.size(1)) / double(sums.rows), kLeastShare, kMostShare);
        const at::Tensor damping
            = (sums.squares.diagonal(0, 1, 2).mean(1, true) * share).clamp_min(kLeastDamping);
        m_squares = sums.squares.clone();
        m_squares.diagonal(0, 1, 2).add_(damping);
        m_products = sums.products + grid.weight * damping.unsqueeze(-1);
    }

    Result<at::Tensor> run(const JobContext& job)
    {
        QS_CHECK(compensate(job));
        at::Tensor slope = at::matmul(m_steps * m_scale, m_squares) - m_products;
        double first = 0; // gain of the first sweep
        for (int sweep = 0; sweep < kMostSweeps; ++sweep) {
            QS_TRY(const double gain, turnOver(slope, job));
            first = std::max(first, gain);
            if (gain <= kLeastGain * first)
                break;
        }
        return m_steps;
    }

private:
    static at::Tensor within(const WeightGrid& grid, const at::Tensor& steps)
    {
        return at::minimum(at::maximum(steps, grid.lowest), grid.highest);
    }

    /// Rounds column by column; the columns after it make up for each one's error.
    Result<void> compensate(const JobContext& job)
    {
        const auto [factor, failed] = at::linalg_cholesky_ex(m_squares);
        if (failed.any().item<bool>())
            return {}; // not positive definite in float arithmetic: the nearest integers stay
        at::Tensor target
            = at::cholesky_solve(m_products.transpose(1, 2), factor).transpose(1, 2).contiguous();
        const auto [upper, failedInverse]
            = at::linalg_cholesky_ex(at::cholesky_inverse(factor), true);
        if (failedInverse.any().item<bool>())
            return {};
        const std::int64_t columns = target.size(2);
        for (std::int64_t begin = 0; begin < columns; begin += kBlock) {
            QS_CHECK(job.check());
            const std::int64_t end = std::min(begin + kBlock, columns);
            at::Tensor errors = at::zeros_like(target.narrow(2, begin, end - begin));
            for (std::int64_t j = begin; j < end; ++j) {
                const at::Tensor wanted = target.select(2, j), scale = m_scale.select(2, j);
                const at::Tensor step = at::minimum(
                    at::maximum((wanted / scale).round(), m_low.select(2, j)), m_high.select(2, j));
                m_steps.select(2, j).copy_(step);
                const at::Tensor error
                    = (wanted - step * scale) / upper.select(1, j).select(1, j).unsqueeze(-1);
                errors.select(2, j - begin).copy_(error);
                if (j + 1 < end)
                    target.narrow(2, j + 1, end - j - 1)
                        .sub_(error.unsqueeze(-1)
                              * upper.select(1, j).narrow(1, j + 1, end - j - 1).unsqueeze(1));
            }
            if (end < columns)
                target.narrow(2, end, columns - end)
                    .sub_(at::matmul(
                        errors, upper.narrow(1, begin, end - begin).narrow(2, end, columns - end)));
        }
        return {};
    }

    /// Turns over each weight, in order of columns, for which that lessens the error; returns by
    /// how much. `slope`: half the derivative of the error by the weight, kept up to date.
    Result<double> turnOver(at::Tensor& slope, const JobContext& job)
    {
        const std::int64_t columns = slope.size(2);
        at::Tensor gained = at::zeros({}, slope.options().dtype(at::kDouble));
        for (std::int64_t begin = 0; begin < columns; begin += kBlock) {
            QS_CHECK(job.check());
            const std::int64_t width = std::min(kBlock, columns - begin);
            at::Tensor near = slope.narrow(2, begin, width).clone();
            at::Tensor changes = at::zeros_like(near);
            for (std::int64_t j = 0; j < width; ++j) {
                const at::Tensor row = m_squares.select(1, begin + j).narrow(1, begin, width);
                at::Tensor step = m_steps.select(2, begin + j);
                const at::Tensor other
                    = m_low.select(2, begin + j) + m_high.select(2, begin + j) - step;
                const at::Tensor change = (other - step) * m_scale.select(2, begin + j);
                const at::Tensor gain
                    = change * (2 * near.select(2, j) + change * row.select(1, j).unsqueeze(-1));
                const at::Tensor helps = gain.lt(0);
                const at::Tensor taken = change * helps;
                gained -= gain.clamp_max(0).sum(at::kDouble);
                step.copy_(at::where(helps, other, step));
                changes.select(2, j).copy_(taken);
                near.add_(taken.unsqueeze(-1) * row.unsqueeze(1));
            }
            slope.add_(at::matmul(changes, m_squares.narrow(1, begin, width)));
        }
        return gained.item<double>();
    }

    at::Tensor m_scale, m_low, m_high; ///< the two choices of each weight
    at::Tensor m_squares, m_products; ///< damped
    at::Tensor m_steps;
};

} // namespace

void addRows(LayerSums& sums, const at::Tensor& inputs, const at::Tensor& outputs)
{
    const at::Tensor turned = inputs.transpose(1, 2);
    const at::Tensor products = at::matmul(outputs.transpose(1, 2), inputs);
    if (sums.rows == 0) {
        sums.inputs = inputs.sum(1);
        sums.outputs = outputs.sum(1);
        sums.squares = at::matmul(turned, inputs);
        sums.products = products;
    } else {
        sums.inputs.add_(inputs.sum(1));
        sums.outputs.add_(outputs.sum(1));
        sums.squares.baddbmm_(turned, inputs);
        sums.products.add_(products);
    }
    sums.power += outputs.square().sum(at::kDouble).item<double>();
    sums.rows += inputs.size(1);
}

LayerSums centred(const LayerSums& sums)
{
    const double count = double(std::max<std::int64_t>(sums.rows, 1));
    LayerSums out = sums;
    const at::Tensor mean = sums.inputs / count;
    out.squares = sums.squares - sums.inputs.unsqueeze(2) * mean.unsqueeze(1);
    out.products = sums.products - sums.outputs.unsqueeze(2) * mean.unsqueeze(1);
    out.power -= sums.outputs.square().sum(at::kDouble).item<double>() / count;
    out.inputs = at::zeros_like(sums.inputs);
    out.outputs = at::zeros_like(sums.outputs);
    return out;
}

double errorPower(const LayerSums& sums, const at::Tensor& weight)
{
    const at::Tensor inner = at::matmul(weight, sums.squares) - 2 * sums.products;
    return (inner * weight).sum(at::kDouble).item<double>() + sums.power;
}

Result<at::Tensor> roundWeight(const WeightGrid& grid, const LayerSums& sums, const JobContext& job)
{
    return Rounding(grid, sums).run(job);
}

} // namespace qs
