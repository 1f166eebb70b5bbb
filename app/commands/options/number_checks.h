// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

namespace qs {

/// Options that take a number above 0; another word is wrong usage.
CLI::Validator positiveNumber();
/// The same with 0.
CLI::Validator notNegativeNumber();

} // namespace qs
