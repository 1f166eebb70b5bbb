// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/compare/products/grid_product.h"
#include "engine/compare/products/weight_terms.h"

#include <ATen/core/ivalue.h>

#include <optional>
#include <vector>

namespace qs {

/// Whether this processor multiplies bytes and adds them up in 32 bits (AVX-512 VNNI), and LibTorch
/// has oneDNN's operators for it, which do not saturate in between: tried once, with the largest
/// products there are.
bool multipliesBytes();

/// A convolution or linear over integers of eight bits, with a float result: oneDNN's kernels
/// (`onednn::qconv2d_pointwise`, `onednn::qlinear_pointwise`) over packed weights, one for each
/// term. Sums are exact up to the last rounding. May throw c10::Error (call under guardTorch).
/// One thread at a time.
class PackedProduct
{
public:
    /// The weight as `terms`; the input's integers are handed over as `integersOf` makes them.
    PackedProduct(const std::vector<WeightTerm>& terms, const GridProduct& product,
                  at::IntArrayRef inputShape);

    /// `integers` uint8 [n, c, h, w], or [..., in] in order for a linear; `bias` may be undefined.
    at::Tensor run(const at::Tensor& integers, const at::Tensor& bias) const;

private:
    struct Term
    {
        at::Tensor packed, scales, zeroPoints;
    };
    /// Adds to `sum`, in place, where that is defined.
    at::Tensor apply(const Term& term, const at::Tensor& integers, const at::Tensor& bias,
                     const at::Tensor& sum) const;

    std::vector<Term> m_terms;
    std::optional<ConvGeometry> m_geometry;
    double m_scale;
    std::int64_t m_zeroPoint;
};

/// The integers behind float values on a grid, as uint8 (signed ones moved up by 128), in the
/// values' own layout. Undefined where a value is not on the grid or the tensor has holes.
at::Tensor integersOf(const at::Tensor& values, const kernels::FakeQuant& grid);

} // namespace qs
