// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/compare/compare_unit.h"
#include "engine/kernels/fake_quant.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace qs {

/// A weight that a reference graph dequantizes: signed bytes, symmetric, by output channel or as a
/// whole.
struct StoredWeight
{
    ValueRef integers;
    ValueRef scales, zeroPoints; ///< by channel; none where the weight has one scale
    double scale = 0; ///< of the whole
};

/// How a convolution's weight slides over images, one entry a dimension.
struct ConvGeometry
{
    std::vector<std::int64_t> stride, padding, dilation;
    std::int64_t groups = 1;
};

/// A two-dimensional convolution or a linear whose input lies on a grid of eight bits.
struct GridProduct
{
    NodeId node;
    std::optional<ConvGeometry> geometry; ///< none for a linear
    ValueRef input, weight;
    ValueRef bias; ///< none where there is none
    kernels::FakeQuant grid; ///< of the input
    std::optional<StoredWeight> stored; ///< none: the weight is any float
};

/// Those of a reference graph that read a dequantized activation and a dequantized weight.
std::vector<GridProduct> quantizedProducts(const Graph& reference);

/// The same operators of the float graph over what the reference graph reads (x^), for the units
/// whose product is one of `quantized`. None for convolutions by group, which two terms of eight
/// bits would not make faster.
std::vector<GridProduct> floatProducts(const ConvertedModel& converted,
                                       const std::vector<CompareUnit>& units,
                                       const std::vector<GridProduct>& quantized);

} // namespace qs
