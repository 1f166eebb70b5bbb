// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/base/error.h"

#include <ATen/ATen.h>

#include <cmath>
#include <cstring>
#include <string>

namespace qs::test {

/// Returns the text that a failed check prints.
inline std::string line(const Error& error)
{
    return error.line();
}

/// True if dtype, shape and bits are equal.
inline bool bitEqual(const at::Tensor& a, const at::Tensor& b)
{
    if (a.scalar_type() != b.scalar_type() || a.sizes() != b.sizes())
        return false;
    const at::Tensor x = a.contiguous(), y = b.contiguous();
    return x.nbytes() == 0 || std::memcmp(x.const_data_ptr(), y.const_data_ptr(), x.nbytes()) == 0;
}

/// Returns the SQNR of `got` against `wanted` in dB; 200 if they are equal.
inline double sqnr(const at::Tensor& wanted, const at::Tensor& got)
{
    const at::Tensor real = wanted.to(at::kDouble);
    const double noise = (real - got.to(at::kDouble)).norm().item<double>();
    return noise == 0 ? 200 : 20 * std::log10(real.norm().item<double>() / noise);
}

} // namespace qs::test
