// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace qs {

/// Returns a library exception's message as one line for users, without source locations,
/// namespaces, assertions and requests to report a bug. Replaces a message that only names a
/// function of the standard library by its meaning. Never empty.
std::string plainCause(const std::string& what);

} // namespace qs
