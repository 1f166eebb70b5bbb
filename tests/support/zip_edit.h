// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace qs::test {

/// Returns the bytes of a record whose name ends with `suffix`. Throws if there is none.
std::string readRecord(const std::string& archive, const std::string& suffix);
/// Replaces a record whose name ends with `suffix`, or adds one named `suffix`.
void writeRecord(const std::string& archive, const std::string& suffix, const std::string& bytes);
void removeRecord(const std::string& archive, const std::string& suffix);

} // namespace qs::test
