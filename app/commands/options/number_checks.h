// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

namespace qs {

/// For an option that takes a number above 0. Any other word is wrong usage.
CLI::Validator positiveNumber();
/// For an option that takes 0 or a number above it.
CLI::Validator notNegativeNumber();

} // namespace qs
