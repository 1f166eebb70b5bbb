// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/configure/edit_step.h"

#include <functional>

namespace qs {

/// What an operator of the file or an added one is called; empty: as `addressText` has it.
using OperatorNames = std::function<std::string(const ValueAddress& address)>;

/// `editText` with names of operators from elsewhere.
std::string editText(const EditStep& step, const OperatorNames& names);

} // namespace qs
