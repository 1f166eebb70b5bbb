// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

namespace qs {

/// One tensor to try a kernel on, and its values in logical order for the naive loop.
struct SelfCheckCase
{
    std::string name; ///< "normal 1025"
    at::Tensor x; ///< float32 on the CPU, maybe strided
    std::vector<float> values;
    bool finite = true;
};

/// The cases, the same at every call.
std::vector<SelfCheckCase> selfCheckCases();

} // namespace qs
