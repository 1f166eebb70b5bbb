// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace qs {

/// The message of a library's exception as one line for a user: without source locations, names of
/// namespaces, assertions and requests to report a bug. A message that only names a function of the
/// standard library is replaced by its meaning. Never empty.
std::string plainCause(const std::string& what);

} // namespace qs
