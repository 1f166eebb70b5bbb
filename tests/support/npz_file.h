// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/Tensor.h>

#include <map>
#include <string>

namespace qs::test {

/// Returns all arrays of a .npz by name. Throws std::runtime_error on anything unexpected.
std::map<std::string, at::Tensor> readNpz(const std::string& path);

} // namespace qs::test
