// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph.h"

#include <ATen/core/ivalue.h>

namespace qs {

/// How images lie in memory while a graph runs. Values are the same in any, up to the order in
/// which convolutions add.
enum class Layout : std::uint8_t
{
    AsGiven, ///< as PyTorch runs these inputs, bit for bit
    ChannelsLast ///< fastest for convolutions and pooling on the CPU
};

/// True if an operator's result may depend on its inputs' strides: it reads them or the storage, or
/// is unknown.
bool readsStrides(const Node& node);

/// True if it makes a view that some strides do not allow; `reshape` copies then.
bool wantsViewableStrides(const Node& node);

/// ChannelsLast where the graph convolves images and every operator computes the same whatever the
/// strides of its inputs; else AsGiven.
Layout fastLayout(const Graph& graph);

/// The fastest in which both graphs add in the same order on the device.
Layout fastLayout(const Graph& one, const Graph& other, at::Device device);

/// An input of such a run: images are copied, everything else is passed on.
at::IValue inLayout(const at::IValue& value, Layout layout);

} // namespace qs
