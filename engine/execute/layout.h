// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph.h"

#include <ATen/core/ivalue.h>

namespace qs {

/// Memory layout of images while a graph runs. It does not change values, except by the order of
/// summation in convolutions.
enum class Layout : std::uint8_t
{
    AsGiven, ///< layout of the inputs; bitwise as in PyTorch
    ChannelsLast ///< fastest for convolutions and pooling on the CPU
};

/// True if an operator's result may depend on its inputs' strides: it reads them or the storage, or
/// is unknown.
bool readsStrides(const Node& node);

/// True if the operator makes a view that some strides do not allow, where `reshape` copies.
bool wantsViewableStrides(const Node& node);

/// ChannelsLast if the graph convolves images and no operator's result depends on the strides of
/// its inputs; else AsGiven.
Layout fastLayout(const Graph& graph);

/// The fastest layout in which both graphs sum in the same order on the device.
Layout fastLayout(const Graph& one, const Graph& other, at::Device device);

/// An input value in the given layout: images are copied, other values are returned unchanged.
at::IValue inLayout(const at::IValue& value, Layout layout);

} // namespace qs
