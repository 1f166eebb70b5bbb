// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/graph/graph.h"

#include <ATen/ATen.h>
#include <ATen/core/ivalue.h>

#include <functional>
#include <string>
#include <vector>

namespace qs {

using Values = std::vector<at::IValue>;

/// A model, the calls it is tried with (arguments as Python has them, and flat), and what the
/// reloaded model must return.
struct Sample
{
    GraphPtr graph;
    std::string structure;
    struct Call
    {
        at::IValue args, kwargs;
        Values flat;
    };
    std::function<Call(int batch)> call;
};

at::Tensor random(at::IntArrayRef shape, int seed);
at::IValue tuple(Values values);
/// Keyword arguments.
at::IValue strings(const std::vector<std::pair<std::string, at::IValue>>& items);

Sample referenceSample();
Sample loweredSample();
Sample arithmeticSample();
Sample regionSample();

} // namespace qs
