// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/jit_type.h>
#include <torch/csrc/jit/frontend/source_range.h>

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace qs {

/// An operator that LibTorch does not have, as the calls of it in a program tell.
struct UnknownOperator
{
    std::size_t positional = 0; ///< the most arguments without a name
    std::size_t required = 0; ///< the fewest
    std::set<std::string> keywords;
    std::vector<c10::TypePtr> results;
};

/// By name ("mylib::foo").
using UnknownOperators = std::map<std::string, UnknownOperator>;

/// Reads the calls in one file of TorchScript code and adds to `known` what they tell of operators
/// that nobody registered. A result is a tensor unless the place that reads it needs something
/// else: an index a list, a condition a bool, an operator or a return type what they declare. May
/// throw what LibTorch's parser throws.
void addUnknownOperators(const std::shared_ptr<torch::jit::Source>& code, UnknownOperators& known);

} // namespace qs
