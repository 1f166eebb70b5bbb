// SPDX-License-Identifier: Apache-2.0
#include "engine/verify/output_sums.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace qs {

Result<void> OutputSums::add(const at::Tensor& y, const at::Tensor& own, const at::Tensor& other,
                             const std::string& name)
{
    if (own.sizes() != other.sizes())
        return fail(ErrorCode::Numeric,
                    "output '" + name + "' has the shape " + c10::str(other.sizes())
                        + " where ours has " + c10::str(own.sizes()));
    if (own.numel() == 0)
        return {};
    if (!own.is_floating_point()) {
        differing += other.to(own.scalar_type()).ne(own).sum().item<std::int64_t>();
        return {};
    }
    const at::Tensor a = own.to(at::kFloat), b = other.to(at::kFloat);
    QS_CHECK(addError(ours, a, b));
    maxAbs = std::max(maxAbs, (a - b).abs().nan_to_num(0).max().item<double>());
    if (!y.defined() || y.sizes() != own.sizes())
        return {};
    QS_CHECK(addError(toFloat, y.to(at::kFloat), b));
    return addError(ownToFloat, y.to(at::kFloat), a);
}

Result<std::optional<double>> sqnrOf(const ErrorSums& sums)
{
    const auto metrics = metricsFrom(sums);
    return metrics ? metrics->sqnrDb : std::nullopt;
}

} // namespace qs
