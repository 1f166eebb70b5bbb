// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/jit_type.h>

#include <string>

namespace qs {

/// LibTorch rebuilds packed weights by running `__setstate__` from the file. This says whether that
/// of `type` does nothing but rebuild them: prepacking operators, taking tuples apart, setting
/// attributes; no loop, no other operator. Follows calls. Returns the first operator that is not
/// on that list, or "" when the method is pure. Runs nothing. May throw what LibTorch throws.
std::string firstImpureOperator(const c10::ClassType& type);

/// Why LibTorch's compiler should not see this source: nested so deeply that its recursion would
/// overflow the stack. Empty when there is no objection.
std::string objectionToSource(const std::string& text);

} // namespace qs
