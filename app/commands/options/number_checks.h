// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

namespace qs {

/// Returns the validator of an option that takes a number above 0. Other values are usage errors.
CLI::Validator positiveNumber();
/// Returns the validator of an option that takes 0 or a number above it.
CLI::Validator notNegativeNumber();

} // namespace qs
