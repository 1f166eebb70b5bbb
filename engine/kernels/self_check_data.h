// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

namespace qs {

/// One test tensor for a kernel, and its values in logical order for the naive loop.
struct SelfCheckCase
{
    std::string name; ///< "normal 1025"
    at::Tensor x; ///< float32 on the CPU, possibly strided
    std::vector<float> values;
    bool finite = true;
};

/// Returns the cases; deterministic.
std::vector<SelfCheckCase> selfCheckCases();

} // namespace qs
