// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace qs {

/// What a library's exception says, as one line for a user: without places in its sources, names of
/// its namespaces, assertions and requests to report a bug. What only names a function of the
/// standard library becomes what it means. Never empty.
std::string plainCause(const std::string& what);

} // namespace qs
