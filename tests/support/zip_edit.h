// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace qs::test {

/// Bytes of a record whose name ends with `suffix`. Throws when there is none.
std::string readRecord(const std::string& archive, const std::string& suffix);
/// Replaces such a record, or adds one named `suffix` when there is none.
void writeRecord(const std::string& archive, const std::string& suffix, const std::string& bytes);
void removeRecord(const std::string& archive, const std::string& suffix);

} // namespace qs::test
